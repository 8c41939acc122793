import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { webhooks, workloadKinds } from '../contract.ts';
import type { KubernetesObject } from '../kubernetes/resources/objects.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';

let operator: OperatorBench;
let namespace: string;
beforeAll(async () => {
  operator = await startOperator({ controllerManager: false });
  namespace = await operator.testCluster.namespace('probed');
  await operator.testCluster.create(createWorkload(workloadKinds.deployment, namespace, 'app'));
  await operator.testCluster.activate(namespace);
  // The first probe may have preceded the first workload, and the next one would be a minute later.
  await restarted();
});
afterAll(() => operator?.stop());

const configurations = kinds.webhooks;

const waitForCondition = (condition: object): Promise<void> =>
  eventually(
    async () => {
      const { status } = await operator.testCluster.readLumigo(namespace);
      const said = status?.conditions?.find(({ type }) => type === 'WebhookReachable');
      expect(said).toMatchObject(condition);
    },
    { timeoutMs: 30_000 },
  );

async function restarted(): Promise<void> {
  await operator.stopManager();
  await operator.startManager();
}

async function breakInjector(): Promise<() => Promise<void>> {
  const { cluster, installation } = operator;
  const ref = { ...configurations, name: `${installation.settings.name}-injector-webhook` };
  const { webhooks: all } = (await cluster.client.get(ref)) as KubernetesObject & {
    webhooks: readonly { readonly name: string; readonly matchConditions: readonly object[] }[];
  };
  const index = all.findIndex(({ name }) => name === webhooks.injector);
  const path = `/webhooks/${index}/matchConditions/-`;
  const value = { name: 'never', expression: 'false' };
  await cluster.client.patch(ref, { kind: 'json', operations: [{ op: 'add', path, value }] });
  return async () => {
    const last = `/webhooks/${index}/matchConditions/${all[index]?.matchConditions.length ?? 0}`;
    await cluster.client.patch(ref, { kind: 'json', operations: [{ op: 'remove', path: last }] });
  };
}

describe('the probe of the webhook', () => {
  it("passes through the injector's own rule, so that an excluding condition is noticed [F29]", async () => {
    await waitForCondition({ status: 'True', message: 'The API server reaches the injector webhook' });
    const mend = await breakInjector();
    await restarted();
    await waitForCondition({ status: 'False', reason: 'ProbeFailed' });
    await mend();
    await restarted();
    await waitForCondition({ status: 'True' });
  });
});
