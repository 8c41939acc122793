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

/** What came of a run, from what Jest writes of it. A file whose tests did not even begin counts as one that failed. */
export function resultOf(json: string): Pick<Tried, 'passed' | 'failed'> {
  const { numPassedTests, testResults } = JSON.parse(json) as JestResults;
  const failed = testResults.flatMap(({ name, status, assertionResults }) => {
    const own = assertionResults.filter((each) => each.status === 'failed').map(({ fullName }) => fullName);
    return own.length === 0 && status === 'failed' ? [name.slice(name.lastIndexOf('/') + 1)] : own;
  });
  return { passed: numPassedTests, failed };
}

/** The runs with newer ones in the place of those of the same version, in order of program and version. */
export function withResults(before: readonly Tried[], results: readonly Tried[]): readonly Tried[] {
  const keyOf = ({ program, version }: Tried) => `${program} ${version}`;
  const again = new Set(results.map(keyOf));
  return [...before.filter((each) => !again.has(keyOf(each))), ...results].toSorted((a, b) =>
    keyOf(a).localeCompare(keyOf(b), 'en', { numeric: true }),
  );
}
