import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { runCommand } from '../../sandbox/manager/command.ts';
import { withoutNodes } from '../../sandbox/manager/install.ts';
import { runOperatorPods } from '../../sandbox/testing/operator-pods.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { forEachConcurrent } from '../async/for-each-concurrent.ts';
import { workloadKinds } from '../contract.ts';

const WORKLOADS = 200;

let operator: OperatorBench;
let namespace: string;
const { deployment } = workloadKinds;
beforeAll(async () => {
  operator = await startOperator({ settings: withoutNodes });
  const { testCluster } = operator;
  await runOperatorPods(operator);
  namespace = await testCluster.namespace('large');
  await testCluster.activate(namespace);
  const names = Array.from({ length: WORKLOADS }, (_, index) => `app-${index}`);
  await forEachConcurrent(12, names, async (name) => {
    await testCluster.create(createWorkload(deployment, namespace, name));
  });
  await run('check --wait 60');
});
afterAll(() => operator?.stop());

const run = (line: string) => {
  const args = [...line.split(' '), '-n', namespace, '--kubeconfig', operator.cluster.kubeconfig];
  return runCommand(args, { HOME: '/nonexistent' });
};

it.each([
  ['explain deployment/app-7', 1.5],
  ['check', 3],
  ['status', 3],
])('lumigo %s answers within %f s in a namespace with 200 workloads', async (line, maxSeconds) => {
  const started = performance.now();
  const { code, stderr } = await run(line);
  const seconds = (performance.now() - started) / 1_000;
  process.stderr.write(`      lumigo ${line}: ${seconds.toFixed(2)} s\n`);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(seconds).toBeLessThan(maxSeconds);
});
