import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { TestCluster } from '../../sandbox/testing/test-cluster.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { KubeletByHand } from '../../sandbox/testing/kubelet-by-hand.ts';
import type { Outcome } from '../../sandbox/testing/pod-outcomes.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { workloadKinds, type WorkloadKind } from '../contract.ts';
import { getCompletion, type Completion } from './completion.ts';

const { deployment, daemonSet, statefulSet } = workloadKinds;

let cluster: ControlPlane;
let testCluster: TestCluster;
beforeAll(async () => {
  cluster = await startControlPlane({ apiServerFlags: ['--disable-admission-plugins=ServiceAccount'] });
  testCluster = new TestCluster(cluster.client);
});
afterAll(() => cluster?.stop());

async function world(kind: WorkloadKind, spec: object, outcome: { now: Outcome }) {
  const namespace = await testCluster.namespace('completion');
  const kubelet = new KubeletByHand(testCluster, namespace, () => outcome.now);
  const manifest = createWorkload(kind, namespace, 'app');
  await testCluster.create({ ...manifest, spec: { ...(manifest['spec'] as object), ...spec } });
  const read = () => testCluster.get(kind, namespace, 'app');
  return {
    namespace,
    kubelet,
    change: (body: object) => testCluster.merge(kind, namespace, 'app', body),
    shows: (expected: Partial<Completion>) =>
      eventually(async () => {
        expect(getCompletion(await read())).toMatchObject(expected);
      }),
  };
}

const nextImage = { spec: { template: { spec: { containers: [{ name: 'app', image: 'app:2' }] } } } };

it('follows a Deployment through a rollout, a rollout without progress, a pause and a refusal', async () => {
  const outcome: { now: Outcome } = { now: 'ready' };
  const { kubelet, change, shows, namespace } = await world(
    deployment,
    { replicas: 2, progressDeadlineSeconds: 3, minReadySeconds: 0 },
    outcome,
  );
  await shows({ kind: 'complete' });
  outcome.now = 'unready';
  await change(nextImage);
  await shows({ kind: 'progressing', available: 0, isReplacing: true });
  outcome.now = 'ready';
  await shows({ kind: 'complete' });
  await change({ spec: { paused: true, template: { metadata: { annotations: { next: '1' } } } } });
  await shows({ kind: 'paused' });
  await change({ spec: { paused: null } });
  await shows({ kind: 'complete' });
  await testCluster.create({
    ...{ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'none', namespace } },
    spec: { hard: { pods: '0' } },
  });
  await change({ spec: { template: { metadata: { annotations: { next: '2' } } } } });
  await shows({ kind: 'progressing', refused: expect.stringContaining('exceeded quota') as never });
  await kubelet.stop();
});

it('follows a StatefulSet to its partition, and knows that OnDelete replaces nothing', async () => {
  const outcome: { now: Outcome } = { now: 'ready' };
  const { kubelet, change, shows } = await world(
    statefulSet,
    { replicas: 3, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } },
    outcome,
  );
  await shows({ kind: 'complete' });
  outcome.now = 'unready';
  await change(nextImage);
  await shows({ kind: 'progressing', available: 0 });
  outcome.now = 'ready';
  await shows({ kind: 'complete' });
  await change({ spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } } });
  await shows({ kind: 'no-pods' });
  await kubelet.stop();
});

it('follows a DaemonSet on its node', async () => {
  // Without a kubelet, the node counts as unreachable after 40 seconds.
  await testCluster.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } });
  await testCluster.setStatus(
    { group: '', version: 'v1', plural: 'nodes', name: 'node-1' },
    { conditions: [{ type: 'Ready', status: 'True' }] },
  );
  const outcome: { now: Outcome } = { now: 'ready' };
  const { kubelet, change, shows } = await world(daemonSet, {}, outcome);
  await shows({ kind: 'complete' });
  outcome.now = 'unready';
  await change(nextImage);
  await shows({ kind: 'progressing', available: 0, wanted: 1 });
  outcome.now = 'ready';
  await shows({ kind: 'complete' });
  await kubelet.stop();
});
