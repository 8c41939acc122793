import { writeFileSync } from 'node:fs';
import { whyNoNode } from './node/requirements.ts';
import { runJest } from './testing/jest-run.ts';

/**
 * `npm test` and `npm run test:node`: runs the projects of Jest in groups, since some tests need the machine to themselves.
 * Further arguments are Jest's. LUMIGO_TEST_RESULTS names a file for the numbers, as JSON.
 */
const groups = {
  cluster: [['unit', 'cluster'], ['load']],
  node: [['e2e'], ['machine']],
} as const;

/** How many files of a project run at once, where it is not Jest's default. A third node fits as well, but its pods are late. */
const workers: Readonly<Record<string, number>> = { load: 1, e2e: 2, machine: 1 };

const [, , name, ...passedOn] = process.argv;
const why = name === 'node' ? whyNoNode() : undefined;
if (why !== undefined) {
  process.stderr.write(`${why}\n`);
  process.exit(1);
}

const outcomes = groups[name === 'node' ? 'node' : 'cluster'].map((projects) => {
  const atOnce = workers[projects[0]];
  const limit = atOnce === undefined ? [] : [`--maxWorkers=${atOnce}`];
  // In this order: Jest would take the names of tests behind it for more projects.
  return runJest({ flags: [...limit, ...passedOn, '--selectProjects', ...projects], stdout: 'inherit' });
});
const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0);
const failed = outcomes.flatMap((outcome) => outcome.failed);
for (const test of failed) process.stderr.write(`failed: ${test}\n`);
process.stderr.write(`\n${passed} tests passed, ${failed.length} failed.\n`);
if (name !== 'node')
  process.stderr.write(
    'The tests on a real node are `npm run test:node`. They need Linux, root and Debian packages.\n',
  );
const { LUMIGO_TEST_RESULTS: results } = process.env;
if (results !== undefined) writeFileSync(results, JSON.stringify({ passed, failed }));
process.exitCode = failed.length === 0 ? 0 : 1;
