import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface JestReport {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

export interface Outcome {
  readonly passed: number;
  /** Names of failed tests, and of files whose tests did not begin. */
  readonly failed: readonly string[];
}

interface Run {
  readonly flags: readonly string[];
  readonly stdout: 'inherit' | 'ignore';
  readonly env?: NodeJS.ProcessEnv;
}

export function runJest({ flags, stdout, env = process.env }: Run): Outcome {
  const folder = mkdtempSync(join(tmpdir(), 'lumigo-tests-'));
  try {
    const file = join(folder, 'report.json');
    const jest = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js'];
    const args = [...jest, '--json', `--outputFile=${file}`, ...flags];
    const { status } = spawnSync(process.execPath, args, { stdio: ['ignore', stdout, 'inherit'], env });
    const outcome = existsSync(file) ? getOutcome(readFileSync(file, 'utf8')) : { passed: 0, failed: [] };
    if (status === 0 || outcome.failed.length > 0) return outcome;
    return { ...outcome, failed: [`Jest itself, which ended with ${status}`] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Reports several runs together, also in the JSON file that LUMIGO_TEST_RESULTS names. The exit code is 1 if a test failed. */
export function report(outcomes: readonly Outcome[]): Outcome {
  const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0);
  const failed = outcomes.flatMap((outcome) => outcome.failed);
  for (const test of failed) process.stderr.write(`failed: ${test}\n`);
  const { LUMIGO_TEST_RESULTS: file } = process.env;
  if (file !== undefined) writeFileSync(file, JSON.stringify({ passed, failed }));
  if (failed.length > 0) process.exitCode = 1;
  return { passed, failed };
}

/** Returns the outcome of a run. The tests of a failed file without a failed test did not begin. */
export function getOutcome(report: string): Outcome {
  const { numPassedTests, testResults } = JSON.parse(report) as JestReport;
  const failed = testResults
    .filter(({ status }) => status === 'failed')
    .flatMap(({ name, assertionResults }) => {
      const tests = assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
      return tests.length > 0 ? tests : [name.slice(name.lastIndexOf('/') + 1)];
    });
  return { passed: numPassedTests, failed };
}
