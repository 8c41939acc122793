import type { Tried } from '../../infra/generate/tried-versions.ts';

/** Returns the runs in order of program and version. A newer result replaces one of the same version. */
export function withResults(before: readonly Tried[], results: readonly Tried[]): readonly Tried[] {
  const toKey = ({ program, version }: Tried) => `${program} ${version}`;
  const again = new Set(results.map(toKey));
  return [...before.filter((each) => !again.has(toKey(each))), ...results].toSorted((a, b) =>
    toKey(a).localeCompare(toKey(b), 'en', { numeric: true }),
  );
}
