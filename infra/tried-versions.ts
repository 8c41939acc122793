import { readFileSync } from 'node:fs';

/** One run of the tests against another version of a program than that of the usual tests. `npm run test:matrix` writes it. */
export interface Tried {
  /** `Kubernetes`, `Helm` */
  readonly program: string;
  /** `v1.30.14` */
  readonly version: string;
  /** `2026-11-22` */
  readonly date: string;
  /** Of the short form alone: what differs between API servers. */
  readonly isShort?: boolean;
  readonly passed: number;
  /** How many of these failed beside all the others, and passed by themselves. */
  readonly onSecondTry?: number;
  /** Names of the tests that failed. */
  readonly failed: readonly string[];
}

/** Below the project's folder. */
export const triedFile = 'docs/reference/tried-versions.json';

export const readTried = (): readonly Tried[] =>
  JSON.parse(readFileSync(new URL(`../${triedFile}`, import.meta.url), 'utf8')) as readonly Tried[];

/** The README's table of what was tried: a row for each run. */
export function triedTable(tried: readonly Tried[] = readTried()): string {
  if (tried.length === 0) return 'No run of all of them is on record yet.';
  const rows = tried.map(
    ({ program, version, date, isShort, passed, onSecondTry, failed }) =>
      `| ${program} ${version.slice(1)} | ${passed} of ${passed + failed.length} tests${isShort === true ? ', the short form' : ''}${onSecondTry === undefined ? '' : `, ${onSecondTry} of them on a second try, by themselves`} | ${date} |`,
  );
  return ['| against | passed | on |', '| --- | --- | --- |', ...rows].join('\n');
}
