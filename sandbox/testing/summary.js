import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import process from 'node:process';
import { stripVTControlCharacters } from 'node:util';

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

/** Returns a line of at most 400 characters: the message without its colors and its stack. */
function shorten(message) {
  const [text] = stripVTControlCharacters(message).split(/\n\s+at /);
  return text.replaceAll(/\s*\n\s*/g, ' | ').slice(0, 400);
}

/** The tests of a failed file without a failed test did not begin. */
export function getOutcome({ numPassedTests: passed, numTotalTestSuites: files, testResults }, code) {
  const failed = testResults.flatMap(({ testFilePath, testResults: tests, testExecError }) => {
    const failures = tests.filter(({ status }) => status === 'failed');
    if (failures.length === 0 && testExecError != null) return [basename(testFilePath)];
    return failures.map(({ fullName, failureMessages: [message = ''] }) => `${fullName}: ${shorten(message)}`);
  });
  const ran = testResults.length;
  if (code !== 0 || ran < files) failed.push(`Jest itself, which ended with ${code} after ${ran} of ${files} files`);
  if (passed + failed.length === 0) failed.push('No test fits. Pass a part of its path or name');
  return { passed, failed };
}
