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
    const report = join(folder, 'report.json');
    const jest = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js'];
    const args = [...jest, '--json', `--outputFile=${report}`, ...flags];
    const { status } = spawnSync(process.execPath, args, { stdio: ['ignore', stdout, 'inherit'], env });
    const outcome = existsSync(report) ? getOutcome(readFileSync(report, 'utf8')) : { passed: 0, failed: [] };
    if (status === 0 || outcome.failed.length > 0) return outcome;
    return { ...outcome, failed: [`Jest itself, which ended with ${status}`] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const addOutcomes = (outcomes: readonly Outcome[]): Outcome => ({
  passed: outcomes.reduce((sum, { passed }) => sum + passed, 0),
  failed: outcomes.flatMap(({ failed }) => failed),
});

/** Writes the outcome into the JSON file that LUMIGO_TEST_RESULTS names, if it names one. */
export function keepOutcome(outcome: Outcome): void {
  const { LUMIGO_TEST_RESULTS: file } = process.env;
  if (file !== undefined) writeFileSync(file, JSON.stringify(outcome));
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
