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
