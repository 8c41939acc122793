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
  readonly passed: number;
  /** Names of the tests that failed. */
  readonly failed: readonly string[];
  /** Test files of which something failed. */
  readonly files: readonly string[];
}

export interface Outcome extends Pick<Result, 'passed' | 'failed'> {
  /** Names of those that failed beside all the others, and passed by themselves; `passed` counts them. */
  readonly onSecondTry: readonly string[];
}

interface Run {
  /** Jest's own. */
  readonly flags: readonly string[];
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
  const { files, ...first } = runJest(run);
  if (files.length === 0 || files.length > MOST_AGAIN) return { ...first, onSecondTry: [] };
  return afterSecondTry(first, runJest({ ...run, flags: [...run.flags, '--runInBand', '--runTestsByPath', ...files] }));
}

export function runJest({ flags, output, stdout, env = process.env }: Run): Result {
  rmSync(output, { force: true });
  const jest = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js'];
  const args = [...jest, ...flags, '--json', `--outputFile=${output}`];
  const { status } = spawnSync(process.execPath, args, { stdio: ['ignore', stdout, 'inherit'], env });
  const result = existsSync(output) ? resultOf(readFileSync(output, 'utf8')) : { passed: 0, failed: [], files: [] };
  if (status === 0 || result.failed.length > 0) return result;
  return { ...result, failed: [`Jest itself, which ended with ${status}`] };
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

export function afterSecondTry({ passed, failed }: Pick<Result, 'passed' | 'failed'>, second: Result): Outcome {
  const onSecondTry = failed.filter((name) => !second.failed.includes(name));
  return { passed: passed + onSecondTry.length, failed: second.failed, onSecondTry };
}
