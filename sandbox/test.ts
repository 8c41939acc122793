import { whyNoNode } from './node/requirements.ts';
import { report, runJest } from './testing/jest-run.ts';

/** `npm test`: runs Jest's projects in groups, because some tests need the machine alone. LUMIGO_TEST_RESULTS names a JSON file for results. */
const groups = {
  cluster: [
    { projects: ['unit', 'cluster'], flags: [] },
    { projects: ['load'], flags: ['--maxWorkers=1'] },
  ],
  node: [
    // A third node would fit as well, but its pods would be late.
    { projects: ['e2e'], flags: ['--maxWorkers=2'] },
    { projects: ['machine'], flags: ['--maxWorkers=1'] },
  ],
};

const [, , name, ...passedOn] = process.argv;
const isOnNode = name === 'node';
const why = isOnNode ? whyNoNode() : undefined;
if (why !== undefined) {
  process.stderr.write(`${why}\n`);
  process.exit(1);
}

/** Chosen tests need not be in each group. */
const chosen = passedOn.length === 0 ? [] : ['--passWithNoTests', ...passedOn];

const outcomes = groups[isOnNode ? 'node' : 'cluster'].map(({ projects, flags }) =>
  // The order matters: Jest would take test names after `--selectProjects` for projects.
  runJest({ flags: [...flags, ...chosen, '--selectProjects', ...projects], stdout: 'inherit' }),
);
const { passed, failed } = report(outcomes);
process.stderr.write(`\n${passed} tests passed, ${failed.length} failed.\n`);
if (!isOnNode)
  process.stderr.write(
    'The tests on a real node are `npm run test:node`. They need Linux, root and Debian packages.\n',
  );
if (passed + failed.length === 0)
  process.stderr.write(`No test fits '${passedOn.join(' ')}'. Pass a part of its path.\n`);
if (passed === 0) process.exitCode = 1;
