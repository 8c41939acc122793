import type { Tried } from '../../infra/generate/tried-versions.ts';

/** Returns the runs in order of program and version. A newer result replaces one of the same version. */
export function withResults(before: readonly Tried[], results: readonly Tried[]): readonly Tried[] {
  const keyOf = ({ program, version }: Tried) => `${program} ${version}`;
  const again = new Set(results.map(keyOf));
  return [...before.filter((each) => !again.has(keyOf(each))), ...results].toSorted((a, b) =>
    keyOf(a).localeCompare(keyOf(b), 'en', { numeric: true }),
  );
}
