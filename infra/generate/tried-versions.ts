import { readFileSync } from 'node:fs';
import { markdownTable } from '../settings/markdown-table.ts';

/** A run of the tests with another version of a program, which `npm run test:matrix` adds. */
export interface Tried {
  readonly program: string;
  /** For example `v1.30.14`. */
  readonly version: string;
  readonly date: string;
  /** The short form covers the differences between API servers. */
  readonly isShort?: boolean;
  readonly passed: number;
  readonly failed: readonly string[];
}

export const triedFile = 'docs/reference/tried-versions.json';

export const readTried = (): readonly Tried[] =>
  JSON.parse(readFileSync(new URL(`../../${triedFile}`, import.meta.url), 'utf8')) as readonly Tried[];

/** Returns the README's sentence about Kubernetes. @param oldest the version that the chart requires, such as 1.30 */
export function describeKubernetes(oldest: string, tried: readonly Tried[] = readTried()): string {
  const passed = tried.filter(({ program, failed }) => program === 'Kubernetes' && failed.length === 0);
  const range = (pass: string, runs: readonly Tried[]): string => {
    const minors = runs.map(({ version }) => Number(/^v1\.(\d+)/.exec(version)?.[1]));
    return minors.length === 0 ? '' : ` ${pass} on 1.${Math.min(...minors)} to 1.${Math.max(...minors)}.`;
  };
  const whole = passed.filter(({ isShort }) => isShort !== true);
  return `Kubernetes ${oldest} or newer.${range('The tests pass', whole)}${range('A short form of the tests passes', passed)}`;
}

export function triedTable(tried: readonly Tried[] = readTried()): string {
  return markdownTable(
    ['against', 'passed', 'on'],
    tried.map(({ program, version, date, isShort, passed, failed }) => [
      `${program} ${version.slice(1)}`,
      `${passed} of ${passed + failed.length} tests${isShort === true ? ', the short form' : ''}`,
      date,
    ]),
  );
}
