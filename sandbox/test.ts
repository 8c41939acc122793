import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { whyNoNode } from './node/requirements.ts';
import { outcomeOf, runJest, runTwice, type Outcome } from './testing/jest-run.ts';

/**
 * `npm test`: the tests of functions and those against an API server; those that measure under load, alone; then those on a real
 * node where one can run. What is passed on is Jest's, and whoever chooses tests sees each of them once. LUMIGO_TEST_RESULTS names
 * a file for what came of them, as JSON.
 */

const [, , ...passedOn] = process.argv;
const folder = mkdtempSync(join(tmpdir(), 'lumigo-tests-'));

function run(projects: readonly string[], workers?: number): Outcome {
  // In this order: Jest would take the names of tests behind it for more projects.
  const flags = [...passedOn, '--selectProjects', ...projects];
  const wanted = { flags, workers, output: join(folder, 'results.json'), stdout: 'inherit' } as const;
  return passedOn.length === 0 ? runTwice(wanted) : outcomeOf(runJest(wanted));
}

const outcomes = [run(['unit', 'cluster']), run(['load'], 1)];
const why = whyNoNode();
if (why === undefined) {
  // Each node has its own namespaces and addresses. A third one fits as well, until the machine is slow: then pods are late.
  outcomes.push(run(['e2e'], 2));
  // What a node leaves behind on the machine, too, shows only where there is no other.
  outcomes.push(run(['machine'], 1));
} else process.stderr.write(`\nSkipped the tests on a real node: ${why}\n`);
rmSync(folder, { recursive: true, force: true });

const total = {
  passed: outcomes.reduce((sum, { passed }) => sum + passed, 0),
  failed: outcomes.flatMap(({ failed }) => failed),
  onSecondTry: outcomes.flatMap(({ onSecondTry }) => onSecondTry),
};
const named = { failed: total.failed, 'failed in parallel, passed alone': total.onSecondTry };
for (const [what, names] of Object.entries(named)) for (const name of names) process.stderr.write(`${what}: ${name}\n`);
const { LUMIGO_TEST_RESULTS: results } = process.env;
if (results !== undefined) writeFileSync(results, JSON.stringify(total));
process.exitCode = total.failed.length === 0 ? 0 : 1;
