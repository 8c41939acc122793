import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import process from 'node:process';

/** Names the failed tests after Jest's own summary. LUMIGO_TEST_RESULTS names a JSON file for results. */
export default class Summary {
  onRunComplete(_contexts, results) {
    const outcome = getOutcome(results);
    const { LUMIGO_TEST_RESULTS: file, npm_lifecycle_event: script } = process.env;
    if (file !== undefined) writeFileSync(file, JSON.stringify(outcome));
    const lines = outcome.failed.map((test) => `failed: ${test}\n`);
    if (script === 'test')
      lines.push('The tests on a real node are `npm run test:node`. They need Linux, root and Debian packages.\n');
    process.once('exit', () => process.stderr.write(lines.join('')));
  }
}

/** The tests of a failed file without a failed test did not begin. */
export function getOutcome({ numPassedTests: passed, testResults, runExecError }) {
  const failed = testResults.flatMap(({ testFilePath, testResults: tests, testExecError }) => {
    const names = tests.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
    return names.length === 0 && testExecError != null ? [basename(testFilePath)] : names;
  });
  return { passed, failed: runExecError == null ? failed : [...failed, `Jest itself: ${runExecError.message}`] };
}
