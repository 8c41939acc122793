import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { operatorRequests } from '../../sandbox/testing/audit.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { KubeletByHand } from '../../sandbox/testing/kubelet-by-hand.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import type { Outcome } from '../../sandbox/testing/pods-by-hand.ts';
import { podOf, workloadOf } from '../../sandbox/testing/workloads.ts';
import { permissions } from '../access/permissions.ts';
import { annotations, lumigo as contract, suffixes, workloads } from '../contract.ts';
import type { KubernetesObject } from '../kubernetes/resources/objects.ts';

/** Pods that run already, in Pod mode: the API server's controllers make them, and a kubelet by hand says what becomes of them. */
let operator: OperatorBench;
const kubelets: KubeletByHand[] = [];
beforeAll(async () => {
  operator = await startOperator({
    audit: true,
    settings: { injection: { podMode: true }, rollout: { soakSeconds: 1, deadlineSeconds: 15 } },
  });
});
afterEach(async () => {
  for (const kubelet of kubelets.splice(0)) await kubelet.stop();
});
afterAll(() => operator?.stop());

const [deployment, , , , , job] = workloads;
const podMode = { tracing: { injection: { mode: 'Pod' } } };
const patience = { timeoutMs: 60_000 };

const isInjected = ({ metadata }: KubernetesObject): boolean =>
  metadata.annotations?.[annotations.injection] !== undefined;
const uids = (pods: readonly KubernetesObject[]) => pods.map(({ metadata }) => metadata.uid).sort();

/** A namespace with a Deployment of so many pods that run. */
async function stage(prefix: string, replicas: number, outcome?: (pod: KubernetesObject) => Outcome) {
  const { bench } = operator;
  const namespace = await bench.namespace(prefix);
  const kubelet = new KubeletByHand(bench, namespace, outcome);
  kubelets.push(kubelet);
  const manifest = workloadOf(deployment, namespace, 'shop');
  await bench.create({ ...manifest, spec: { ...(manifest['spec'] as object), replicas } });
  const ready = async () => {
    const { status } = (await bench.get(deployment, namespace, 'shop')) as { status?: { readyReplicas?: number } };
    return status?.readyReplicas ?? 0;
  };
  await eventually(async () => expect(await ready()).toBe(replicas), patience);
  kubelet.fewest = Infinity;
  const injected = async () => (await kubelet.pods()).map(isInjected);
  return {
    ...{ bench, namespace, kubelet },
    whenInjected: (expected: readonly boolean[]) =>
      eventually(async () => expect((await injected()).sort()).toEqual(expected), patience),
    whenSaid: (expected: object) =>
      eventually(async () => {
        const { status } = await bench.readLumigo(namespace);
        expect(status?.conditions?.find(({ type }) => type === 'RolledOut')).toMatchObject(expected);
      }, patience),
    count: async () => (await bench.readLumigo(namespace)).status?.instrumentedResourcesCount,
    budget: async (minAvailable: number) => {
      const metadata = { namespace, name: 'budget' };
      const spec = { minAvailable, selector: { matchLabels: { app: 'shop' } } };
      await bench.create({ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec });
      const ref = { group: 'policy', version: 'v1', plural: 'poddisruptionbudgets', namespace, name: 'budget' };
      await eventually(async () => {
        const { status } = (await bench.client.get(ref)) as { status?: { expectedPods?: number } };
        expect(status?.expectedPods).toBe(replicas);
      });
      return () => bench.client.delete(ref);
    },
  };
}

describe('pods that run when their namespace comes into Pod mode', () => {
  it('are replaced one after the other, each once the one before runs, and no workload changes', async () => {
    const { bench, namespace, kubelet, whenInjected, whenSaid, count } = await stage('progressive', 3);
    const before = await bench.get(deployment, namespace, 'shop');
    const [first] = await kubelet.pods();
    await bench.activate(namespace, podMode);
    await whenSaid({ status: 'False', reason: 'Progressing' });
    await whenInjected([true, true, true]);
    await whenSaid({ status: 'True', reason: 'Complete' });
    expect(kubelet.fewest).toBe(2);
    const after = await bench.get(deployment, namespace, 'shop');
    expect([after['spec'], after.metadata.generation]).toEqual([before['spec'], before.metadata.generation]);
    await eventually(async () => expect(await count()).toBe(3), patience);
    const told = await bench.events(namespace, first?.metadata.name ?? '');
    expect(told.map(({ reason }) => reason)).toEqual(['LumigoEvictedPod']);
  });

  it('halt nothing where nothing replaces one, because its controller is to have fewer by now', async () => {
    let outcome: Outcome = 'unready';
    const { bench, namespace, whenInjected } = await stage('fewer', 3, (pod) => (isInjected(pod) ? outcome : 'ready'));
    await bench.activate(namespace, podMode);
    await whenInjected([false, false, true]);
    const ref = { ...deployment, namespace, name: 'shop' };
    await bench.client.patch(ref, { kind: 'merge', body: { spec: { replicas: 2 } } });
    await whenInjected([false, false]);
    outcome = 'ready';
    await whenInjected([true, true]);
    expect((await bench.events(namespace, 'lumigo')).map(({ reason }) => reason)).not.toContain('LumigoRolloutHalted');
  });

  it('stay for as long as a disruption budget allows none to go, and a Lumigo is deleted all the same', async () => {
    const { bench, namespace, kubelet, whenInjected, whenSaid, budget } = await stage('budget', 2);
    const release = await budget(2);
    const before = uids(await kubelet.pods());
    await bench.activate(namespace, podMode);
    await whenSaid({
      status: 'False',
      reason: 'Blocked',
      message: expect.stringContaining('kept by a disruption budget'),
    });
    expect(uids(await kubelet.pods())).toEqual(before);
    await release();
    await whenInjected([true, true]);
    await budget(2);
    await bench.deleteLumigo(namespace);
    expect(await kubelet.pods().then((pods) => pods.map(isInjected))).toEqual([true, true]);
  });

  it('are left where nobody makes them anew, where their work would be lost, and where no other serves', async () => {
    const { bench, namespace, kubelet, whenSaid } = await stage('left', 1);
    await bench.create(podOf(namespace, 'bare'));
    await bench.create(workloadOf(job, namespace, 'work'));
    await eventually(async () => expect(await kubelet.pods()).toHaveLength(3));
    const before = uids(await kubelet.pods());
    await bench.activate(namespace, podMode);
    await whenSaid({
      status: 'False',
      reason: 'LeftForNow',
      message: '3 pods are not evicted and change when they are next replaced',
    });
    expect(uids(await kubelet.pods())).toEqual(before);
  });

  it('run on where what replaces one fails because of the injector, which is tried again when somebody asks', async () => {
    let image: Outcome = 'no-injector-image';
    const { bench, namespace, kubelet, whenInjected, whenSaid } = await stage('broken', 3, (pod) =>
      isInjected(pod) ? image : 'ready',
    );
    await bench.activate(namespace, podMode);
    await whenSaid({ status: 'False', reason: 'Halted', message: expect.stringContaining('ImagePullBackOff') });
    await whenInjected([false, false, false]);
    expect(kubelet.fewest).toBe(2);
    expect(isInjected(await bench.create(podOf(namespace, 'bare')))).toBe(false);
    await eventually(async () =>
      expect((await bench.events(namespace, 'lumigo')).map(({ reason }) => reason)).toEqual(['LumigoRolloutHalted']),
    );
    image = 'ready';
    await bench.changeLumigo(namespace, { metadata: { annotations: { [annotations.retry]: 'now' } } });
    await whenInjected([false, true, true, true]);
    await whenSaid({ reason: 'LeftForNow' });
    expect((await bench.readLumigo(namespace)).status?.podsHalted).toBeUndefined();
  });

  it('are replaced by clean ones before a Lumigo that is deleted goes', async () => {
    const { bench, namespace, kubelet, whenInjected } = await stage('deleted', 2);
    await bench.activate(namespace, podMode);
    await whenInjected([true, true]);
    kubelet.fewest = Infinity;
    await operator.stopManager();
    await operator.startManager({ LUMIGO_REMOVAL_DEADLINE_SECONDS: '60' });
    await bench.client.delete({ ...contract, namespace, name: 'lumigo' });
    await whenInjected([false, false]);
    expect(kubelet.fewest).toBe(1);
    await eventually(() => expect(bench.readLumigo(namespace)).rejects.toThrow('not found'), patience);
  });
});

describe('what the setting grants', () => {
  it('F26: suffices, and holds nothing that is never used', async () => {
    const all = () => operatorRequests(operator.cluster, operator.installation);
    expect(all().filter(({ responseStatus }) => responseStatus?.code === 403)).toEqual([]);
    const used = () =>
      new Set(
        all().map(({ verb, objectRef: { resource, subresource, name = '' } = {} }) =>
          [
            verb,
            subresource === undefined ? resource : `${resource}/${subresource}`,
            name.endsWith(suffixes.podWebhook),
          ].join(' '),
        ),
      );
    const granted = permissions.podMode.flatMap(({ verbs, resources, resourceNames }) =>
      verbs.flatMap((verb) => resources.map((resource) => [verb, resource, resourceNames !== undefined].join(' '))),
    );
    // An API server that streams lists is asked for none.
    const isUsed = (each: string): boolean => used().has(each) || used().has(each.replace('list ', 'watch '));
    await eventually(() => expect(granted.filter((each) => !isUsed(each))).toEqual([]));
  });
});
