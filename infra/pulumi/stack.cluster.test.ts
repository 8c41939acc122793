import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { workloadKinds } from '../../runtime/contract.ts';
import { destroy } from '../../sandbox/testing/destroy.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { getWaves } from './waves.ts';

let operator: OperatorBench;
beforeAll(async () => {
  operator = await startOperator();
});
afterAll(() => operator?.stop());

/** Pulumi's engine is in no package registry. It deletes the waves in reverse, so the definition is deleted first. */
it('the Pulumi stack leaves no instrumented workload and nothing stuck when it is destroyed [D42]', async () => {
  const { cluster, testCluster, installation } = operator;
  const namespace = await testCluster.instrumented('shop');
  const waves = getWaves(installation.manifests).map(({ objs }) => objs);
  await destroy(cluster, waves.toReversed(), () => operator.stopManager());
  expect(await testCluster.isInstrumented(workloadKinds.deployment, namespace, 'app')).toBe(false);
});
