import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { labels, workloadKinds, type WorkloadKind } from '../contract.ts';
import type { Manifest } from '../kubernetes/resources/objects.ts';
import { eventually, nextSecond } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { validToken } from '../../sandbox/testing/test-cluster.ts';
import { changed, decided, made, withMetadata } from '../../sandbox/testing/injection.ts';
import { podMode } from '../../sandbox/testing/pod-policy.ts';
import { createWorkload, type WorkloadOptions } from '../../sandbox/testing/workloads.ts';

let operator: OperatorBench;
beforeAll(async () => {
  operator = await startOperator({ controllerManager: false });
});
afterAll(() => operator?.stop());

const { deployment, job } = workloadKinds;

describe('the Secret of a Lumigo', () => {
  it('has a reason for each problem, and prevents injections until it is valid', async () => {
    const { testCluster } = operator;
    const namespace = await testCluster.namespace('secrets');
    await testCluster.create(createWorkload(deployment, namespace, 'app'));
    await testCluster.lumigo(namespace);
    await testCluster.waitForCondition(namespace, 'Error', { reason: 'SecretNotFound' });
    await testCluster.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: 'lumigo-credentials' },
      stringData: { other: 'x' },
    });
    await testCluster.waitForCondition(namespace, 'Error', { reason: 'SecretKeyNotFound' });
    await testCluster.secret(namespace, `${validToken}\n`);
    await testCluster.waitForCondition(namespace, 'Error', { reason: 'TokenMalformed' });
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(false);
    await testCluster.create(createWorkload(deployment, namespace, 'while-inactive'));
    expect(await testCluster.isInstrumented(deployment, namespace, 'while-inactive')).toBe(false);
    await testCluster.secret(namespace);
    await testCluster.waitForCondition(namespace, 'Active', { reason: 'Ready' });
    await testCluster.waitForInstrumented(deployment, namespace, 'app');
    await testCluster.waitForInstrumented(deployment, namespace, 'while-inactive');
    const status = JSON.stringify((await testCluster.readLumigo(namespace)).status);
    expect(status).not.toContain(validToken);
  });

  it('does not affect workloads when its value changes', async () => {
    const { testCluster } = operator;
    const namespace = await testCluster.instrumented('rotated');
    const before = await testCluster.toTemplate(deployment, namespace, 'app');
    await testCluster.secret(namespace, `t_${'f'.repeat(21)}`);
    await testCluster.changeLumigo(namespace, { metadata: { labels: { touched: 'yes' } } });
    await eventually(async () =>
      expect((await testCluster.readLumigo(namespace)).metadata.labels).toMatchObject({ touched: 'yes' }),
    );
    expect(await testCluster.toTemplate(deployment, namespace, 'app')).toEqual(before);
  });
});

describe('two Lumigo resources', () => {
  it('the older is in effect, the younger says why not, and deleting it has no effect [D15, D16]', async () => {
    const { testCluster, withoutWebhook } = operator;
    const namespace = await testCluster.instrumented('two');
    await nextSecond();
    await withoutWebhook(() => testCluster.lumigo(namespace, {}, 'younger'));
    await testCluster.waitForCondition(namespace, 'Error', { reason: 'DuplicateLumigo' }, 'younger');
    await testCluster.waitForCondition(namespace, 'Active', { reason: 'Ready' });
    const before = await testCluster.get(deployment, namespace, 'app');
    await testCluster.deleteLumigo(namespace, 'younger');
    await testCluster.waitForCondition(namespace, 'Active', { reason: 'Ready' });
    const { generation, labels } = (await testCluster.get(deployment, namespace, 'app')).metadata;
    expect({ generation, labels }).toEqual({ generation: before.metadata.generation, labels: before.metadata.labels });
  });

  it('the younger takes over after the deletion of the older, without a second change', async () => {
    const { testCluster, withoutWebhook } = operator;
    const namespace = await testCluster.instrumented('heir');
    const before = await testCluster.toTemplate(deployment, namespace, 'app');
    await nextSecond();
    await withoutWebhook(() => testCluster.lumigo(namespace, {}, 'younger'));
    await testCluster.waitForCondition(namespace, 'Error', { reason: 'DuplicateLumigo' }, 'younger');
    await testCluster.deleteLumigo(namespace);
    await testCluster.waitForActive(namespace, 'younger');
    expect(await testCluster.toTemplate(deployment, namespace, 'app')).toEqual(before);
  });
});

describe('an excluded namespace', () => {
  it('has a Lumigo that reports that nothing happens there', async () => {
    const { testCluster } = operator;
    await testCluster.secret('kube-public');
    await testCluster.lumigo('kube-public');
    await testCluster.waitForCondition('kube-public', 'Error', { reason: 'NamespaceExcluded' });
    await testCluster.deleteLumigo('kube-public');
  });

  it('loses its injections from before when its Lumigo is deleted, and no other workload changes', async () => {
    const { testCluster } = operator;
    const injected = withMetadata(changed(decided(made({ labels: optIn }))), { namespace: 'kube-public' });
    await testCluster.create(injected as unknown as Manifest);
    await testCluster.create(createWorkload(deployment, 'kube-public', 'plain', { labels: optIn }));
    const before = await testCluster.get(deployment, 'kube-public', 'plain');
    await testCluster.secret('kube-public');
    await testCluster.lumigo('kube-public');
    await testCluster.waitForCondition('kube-public', 'Error', { reason: 'NamespaceExcluded' });
    expect(await testCluster.isInstrumented(deployment, 'kube-public', 'app')).toBe(true);
    await testCluster.deleteLumigo('kube-public');
    expect(await testCluster.isInstrumented(deployment, 'kube-public', 'app')).toBe(false);
    const { generation } = (await testCluster.get(deployment, 'kube-public', 'plain')).metadata;
    expect(generation).toBe(before.metadata.generation);
  });
});

describe('a workload that the API server refuses to change', () => {
  it('causes one event and retries, and delays no neighbour and no deletion forever [D11]', async () => {
    const { testCluster, refuseChanges } = operator;
    const namespace = await testCluster.namespace('refused');
    await testCluster.create(createWorkload(deployment, namespace, 'stubborn', { labels: { stubborn: 'yes' } }));
    await testCluster.create(createWorkload(deployment, namespace, 'willing'));
    const relent = await refuseChanges(namespace, { stubborn: 'yes' });
    await testCluster.activate(namespace);
    await testCluster.waitForInstrumented(deployment, namespace, 'willing');
    await eventually(async () =>
      expect(await testCluster.reasons(namespace, 'stubborn')).toEqual(['LumigoCannotAddInstrumentation']),
    );
    await relent();
    await testCluster.waitForInstrumented(deployment, namespace, 'stubborn');
    const again = await refuseChanges(namespace, { stubborn: 'yes' });
    await testCluster.deleteLumigo(namespace);
    expect(await testCluster.isInstrumented(deployment, namespace, 'willing')).toBe(false);
    expect(await testCluster.label(deployment, namespace, 'stubborn')).toMatch(/^lumigo-operator/);
    expect(await testCluster.reasons(namespace, 'stubborn')).toContain('LumigoCannotRemoveInstrumentation');
    await again();
    await testCluster.merge(deployment, namespace, 'stubborn', {
      metadata: { labels: { [labels.autoTrace]: 'false' } },
    });
  });
});

describe('without the setting for Pod mode', () => {
  it('there is no policy for pods, and a Lumigo says what it needs', async () => {
    const { testCluster, installation } = operator;
    expect(JSON.stringify(installation.manifests)).not.toContain('pod-policy');
    const namespace = await testCluster.namespace('plain');
    await testCluster.secret(namespace);
    await testCluster.create(createWorkload(deployment, namespace, 'shop'));
    await testCluster.lumigo(namespace, podMode);
    await eventually(async () => {
      const { conditions = [] } = (await testCluster.readLumigo(namespace)).status ?? {};
      expect(conditions.find(({ type }) => type === 'Error')).toMatchObject({ status: 'True', reason: 'PodModeOff' });
      expect(conditions.find(({ type }) => type === 'Active')).toMatchObject({ status: 'False' });
    });
    expect(await testCluster.isInstrumented(deployment, namespace, 'shop')).toBe(false);
    await testCluster.changeLumigo(namespace, { spec: { tracing: { injection: { mode: 'Workload' } } } });
    await testCluster.waitForInstrumented(deployment, namespace, 'shop');
  });
});

const optIn = { [labels.autoTrace]: 'true' };
const refusing = { pod: { volumes: [{ name: 'lumigo-injector', emptyDir: {} }] } };
const done = (change: string): string => `Lumigo${change}Instrumentation`;
const added = done('Added');
const [cannotAdd, cannotUpdate, cannotRemove] = [done('CannotAdd'), done('CannotUpdate'), done('CannotRemove')];

const create = (namespace: string, options: WorkloadOptions = {}, kind: WorkloadKind = deployment) =>
  operator.testCluster.create(createWorkload(kind, namespace, 'app', options));

async function instrumented(namespace: string): Promise<void> {
  await operator.testCluster.activate(namespace);
  await create(namespace);
  await operator.testCluster.waitForInstrumented(deployment, namespace, 'app');
}

const enableLogs = (namespace: string) =>
  operator.testCluster.changeLumigo(namespace, { spec: { logging: { enabled: true } } });

interface Situation {
  readonly events: readonly string[];
  readonly arrange: (namespace: string) => Promise<unknown>;
}

const situations: Readonly<Record<string, Situation>> = {
  'opts in without a Lumigo and cannot be injected': {
    events: [cannotAdd],
    arrange: (namespace) => create(namespace, { ...refusing, labels: optIn }),
  },
  'is an injected Job when its Lumigo is deleted': {
    events: [added, cannotRemove],
    arrange: async (namespace) => {
      const { testCluster } = operator;
      await testCluster.activate(namespace);
      await testCluster.waitForWebhook(namespace);
      await create(namespace, {}, job);
      await eventually(async () => expect(await testCluster.events(namespace, 'app')).toHaveLength(1));
      await testCluster.deleteLumigo(namespace);
    },
  },
  'is injected when the API server refuses other settings': {
    events: [added, cannotUpdate],
    arrange: async (namespace) => {
      await instrumented(namespace);
      await operator.refuseChanges(namespace, { app: 'app' });
      await enableLogs(namespace);
    },
  },
};

it.each(Object.entries(situations))(
  'a workload that %s gets the events of what was tried [F78]',
  async (_what, row) => {
    const { testCluster } = operator;
    const namespace = await testCluster.namespace('reasons');
    await row.arrange(namespace);
    await eventually(async () => {
      const all = await testCluster.events(namespace);
      const events = all.filter(({ involvedObject }) => involvedObject.kind !== 'Lumigo');
      expect(events.map(({ reason }) => reason).sort()).toEqual(row.events.toSorted());
    });
  },
);
