import type { Tried } from '../../infra/generate/tried-versions.ts';

/** Returns the runs in order of program and version. A newer result replaces one of the same version. */
export function withResults(before: readonly Tried[], results: readonly Tried[]): readonly Tried[] {
  const toKey = ({ program, version }: Tried) => `${program} ${version}`;
  const latest = new Map([...before, ...results].map((each) => [toKey(each), each]));
  return [...latest.values()].toSorted((a, b) => toKey(a).localeCompare(toKey(b), 'en', { numeric: true }));
}
