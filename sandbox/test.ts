import { whyNoNode } from './node/requirements.ts';
import { report, runJest } from './testing/jest-run.ts';

/** `npm test`: runs Jest's projects in groups, because some tests need the machine alone. LUMIGO_TEST_RESULTS names a JSON file for results. */
const groups = {
  cluster: [['unit', 'cluster'], ['load']],
  node: [['e2e'], ['machine']],
} as const;

/** The number of files that run at once. A third node would fit as well, but its pods would be late. */
const workers: Readonly<Record<string, number>> = { load: 1, e2e: 2, machine: 1 };

const [, , name, ...passedOn] = process.argv;
const isOnNode = name === 'node';
const why = isOnNode ? whyNoNode() : undefined;
if (why !== undefined) {
  process.stderr.write(`${why}\n`);
  process.exit(1);
}

/** Chosen tests need not be in each group. */
const chosen = passedOn.length === 0 ? [] : ['--passWithNoTests', ...passedOn];

const outcomes = groups[isOnNode ? 'node' : 'cluster'].map((projects) => {
  const atMost = workers[projects[0]];
  const limit = atMost === undefined ? [] : [`--maxWorkers=${atMost}`];
  // The order matters: Jest would take test names after `--selectProjects` for projects.
  return runJest({ flags: [...limit, ...chosen, '--selectProjects', ...projects], stdout: 'inherit' });
});
const { passed, failed } = report(outcomes);
process.stderr.write(`\n${passed} tests passed, ${failed.length} failed.\n`);
if (!isOnNode)
  process.stderr.write(
    'The tests on a real node are `npm run test:node`. They need Linux, root and Debian packages.\n',
  );
if (passed + failed.length === 0)
  process.stderr.write(`No test fits '${passedOn.join(' ')}'. Pass a part of its path.\n`);
if (passed === 0) process.exitCode = 1;
