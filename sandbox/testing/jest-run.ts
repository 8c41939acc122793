import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';

interface JestResults {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** What came of one run. */
export interface Result {
  /** How many tests passed. */
  readonly count: number;
  /** Their names, and those of the files of which nothing failed. */
  readonly passed: readonly string[];
  /** Names of the tests that failed. */
  readonly failed: readonly string[];
  /** Test files of which something failed. */
  readonly files: readonly string[];
}

export interface Outcome extends Pick<Result, 'failed'> {
  readonly passed: number;
  /** Names of those that failed beside all the others, and passed by themselves; `passed` counts them. */
  readonly onSecondTry: readonly string[];
}

interface Run {
  /** Jest's own. */
  readonly flags: readonly string[];
  /** How many files at the same time; left out: as Jest's configuration has it. */
  readonly workers?: number | undefined;
  /** Where Jest is to write its results. */
  readonly output: string;
  readonly stdout: 'inherit' | 'ignore';
  readonly env?: NodeJS.ProcessEnv;
}

/** More files than this are no accident of a busy machine. */
const MOST_AGAIN = 3;

/**
 * Runs tests, and once more, by themselves, the files of which something failed: what is broken fails again; what the load of all the
 * others broke does not, and is named apart, since it is a defect of the test or of the program all the same.
 */
export function runTwice(run: Run): Outcome {
  const first = runJest(run);
  const { files } = first;
  if (files.length === 0 || files.length > MOST_AGAIN) return outcomeOf(first);
  return afterSecondTry(first, runJest({ ...run, workers: 1, flags: [...run.flags, '--runTestsByPath', ...files] }));
}

export const outcomeOf = ({ count, failed }: Result): Outcome => ({ passed: count, failed, onSecondTry: [] });

export function runJest({ flags, workers, output, stdout, env = process.env }: Run): Result {
  rmSync(output, { force: true });
  const jest = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js'];
  const atOnce = workers === undefined ? [] : [`--maxWorkers=${workers}`];
  const args = [...jest, ...atOnce, ...flags, '--json', `--outputFile=${output}`];
  const { status } = spawnSync(process.execPath, args, { stdio: ['ignore', stdout, 'inherit'], env });
  const result = existsSync(output)
    ? resultOf(readFileSync(output, 'utf8'))
    : { count: 0, passed: [], failed: [], files: [] };
  if (status === 0 || result.failed.length > 0) return result;
  return { ...result, failed: [`Jest itself, which ended with ${status}`] };
}

/** What came of a run, from what Jest writes of it. A file whose tests did not even begin counts as one that failed. */
export function resultOf(json: string): Result {
  const { numPassedTests, testResults } = JSON.parse(json) as JestResults;
  const named = (wanted: string): string[] =>
    testResults.flatMap(({ name, status, assertionResults }) => {
      const own = assertionResults.filter((each) => each.status === wanted).map(({ fullName }) => fullName);
      return status === wanted && assertionResults.every((each) => each.status !== 'failed')
        ? [...own, name.slice(name.lastIndexOf('/') + 1)]
        : own;
    });
  const files = testResults.filter(({ status }) => status === 'failed').map(({ name }) => name);
  return { count: numPassedTests, passed: named('passed'), failed: named('failed'), files };
}

/** What failed has passed by itself only where the second run says so: one that came to nothing says nothing. */
export function afterSecondTry(first: Result, second: Result): Outcome {
  const onSecondTry = first.failed.filter((name) => second.passed.includes(name));
  const failed = first.failed.filter((name) => !second.passed.includes(name));
  return {
    passed: first.count + onSecondTry.length,
    failed: [...new Set([...failed, ...second.failed])],
    onSecondTry,
  };
}
