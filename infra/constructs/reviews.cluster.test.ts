import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { workloadKinds, type WorkloadKind } from '../../runtime/contract.ts';
import { listAll } from '../../runtime/kubernetes/http/client.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';

/** Kubernetes' own controllers work here, and no namespace has a Lumigo resource. */

const { deployment, replicaSet, cronJob, job } = workloadKinds;

let operator: OperatorBench;
let namespace: string;
beforeAll(async () => {
  operator = await startOperator();
  namespace = await operator.testCluster.namespace('shop');
});
afterAll(() => operator?.stop());

const reviews = (): Promise<number> => operator.metric('lumigo_operator_admission_reviews_total');

const waitForOwned = (kind: WorkloadKind, owner: string, count: number): Promise<void> =>
  eventually(
    async () => {
      const found = await listAll(operator.testCluster.client, { ...kind, namespace });
      const owned = found.filter(({ metadata: { ownerReferences = [] } }) =>
        ownerReferences.some(({ name, controller }) => name === owner && controller === true),
      );
      expect(owned).toHaveLength(count);
    },
    { timeoutMs: 90_000 },
  );

it("asks the webhook once for a Deployment's rollout [F74]", async () => {
  await operator.testCluster.create(createWorkload(deployment, namespace, 'app'));
  await waitForOwned(replicaSet, 'app', 1);
  // If the controller writes a status meanwhile, the API server repeats the review of the change.
  await eventually(async () => {
    const { status } = await operator.testCluster.get(deployment, namespace, 'app');
    expect(JSON.stringify(status)).toContain('NewReplicaSetAvailable');
  });
  const before = await reviews();
  const template = { metadata: { annotations: { restartedAt: 'now' } } };
  await operator.testCluster.merge(deployment, namespace, 'app', { spec: { template } });
  await waitForOwned(replicaSet, 'app', 2);
  expect((await reviews()) - before).toBe(1);
});

it("does not ask the webhook for a CronJob's run [F74]", async () => {
  const { spec, ...rest } = createWorkload(cronJob, namespace, 'report');
  await operator.testCluster.create({ ...rest, spec: { ...(spec as object), schedule: '* * * * *' } });
  const before = await reviews();
  await waitForOwned(job, 'report', 1);
  expect((await reviews()) - before).toBe(0);
});
