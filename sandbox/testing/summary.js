import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import process from 'node:process';

/** Names the failed tests after all other output, also if Jest crashes. LUMIGO_TEST_RESULTS names a JSON file for results. */
export default class Summary {
  onRunStart(results) {
    this.results = results;
    process.once('exit', (code) => {
      for (const test of this.#save(code)) process.stderr.write(`failed: ${test}\n`);
    });
  }

  onTestFileResult() {
    this.#save('no code');
  }

  /** Jest itself exits with 0 if it skips all tests. */
  getLastError() {
    return this.#save(0)[0];
  }

  #save(code) {
    const outcome = getOutcome(this.results, code);
    writeFileSync(process.env['LUMIGO_TEST_RESULTS'] ?? '/dev/null', JSON.stringify(outcome));
    return outcome.failed;
  }
}

/** The tests of a failed file without a failed test did not begin. */
export function getOutcome({ numPassedTests: passed, numTotalTestSuites: files, testResults }, code) {
  const failed = testResults.flatMap(({ testFilePath, testResults: tests, testExecError }) => {
    const names = tests.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
    return names.length === 0 && testExecError != null ? [basename(testFilePath)] : names;
  });
  const ran = testResults.length;
  if (code !== 0 || ran < files) failed.push(`Jest itself, which ended with ${code} after ${ran} of ${files} files`);
  if (passed + failed.length === 0) failed.push('No test fits. Pass a part of its path or name');
  return { passed, failed };
}
