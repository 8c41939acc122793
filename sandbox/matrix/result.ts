import type { Tried } from '../../infra/tried-versions.ts';

interface JestResults {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

interface Result extends Pick<Tried, 'passed' | 'failed'> {
  /** Test files of which something failed. */
  readonly files: readonly string[];
}

/** What came of a run, from what Jest writes of it. A file whose tests did not even begin counts as one that failed. */
export function resultOf(json: string): Result {
  const { numPassedTests, testResults } = JSON.parse(json) as JestResults;
  const failed = testResults.flatMap(({ name, status, assertionResults }) => {
    const own = assertionResults.filter((each) => each.status === 'failed').map(({ fullName }) => fullName);
    return own.length === 0 && status === 'failed' ? [name.slice(name.lastIndexOf('/') + 1)] : own;
  });
  const files = testResults.filter(({ status }) => status === 'failed').map(({ name }) => name);
  return { passed: numPassedTests, failed, files };
}

/**
 * A run whose failed files were run once more, by themselves: what a version breaks fails again; what the load of all the others broke
 * does not, and is counted apart.
 */
export function afterSecondTry(
  { passed, failed }: Pick<Tried, 'passed' | 'failed'>,
  second: Pick<Tried, 'failed'>,
): Pick<Tried, 'passed' | 'failed' | 'onSecondTry'> {
  const onSecondTry = failed.filter((name) => !second.failed.includes(name)).length;
  return { passed: passed + onSecondTry, failed: second.failed, ...(onSecondTry === 0 ? {} : { onSecondTry }) };
}

/** The runs with newer ones in the place of those of the same version, in order of program and version. */
export function withResults(before: readonly Tried[], results: readonly Tried[]): readonly Tried[] {
  const keyOf = ({ program, version }: Tried) => `${program} ${version}`;
  const again = new Set(results.map(keyOf));
  return [...before.filter((each) => !again.has(keyOf(each))), ...results].toSorted((a, b) =>
    keyOf(a).localeCompare(keyOf(b), 'en', { numeric: true }),
  );
}
