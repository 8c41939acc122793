import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { startApiProxy, type ApiProxy } from '../../sandbox/faults/api-proxy.ts';
import { RolloutStages, type RolloutStage } from '../../sandbox/testing/rollout-stage.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startMutatingWebhook } from '../../sandbox/testing/mutating-webhook.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { annotations, labels, workloadKinds, type WorkloadKind } from '../contract.ts';

/** Real controllers create the pods, and the test sets their status. */
let operator: OperatorBench;
let proxy: ApiProxy;
const stages = new RolloutStages();
beforeAll(async () => {
  operator = await startOperator({
    settings: { rollout: { soakSeconds: 1, deadlineSeconds: 30 } },
    through: async (cluster) => (proxy = await startApiProxy(cluster)).server,
    apiServerFlags: ['--disable-admission-plugins=ServiceAccount'],
  });
});
let endWebhook = async (): Promise<void> => undefined;
afterEach(async () => {
  await endWebhook();
  endWebhook = async () => undefined;
  await stages.end();
});
afterAll(async () => {
  await operator?.stop();
  await proxy?.close();
});

const retry = (value: string | null = '1') => ({ metadata: { annotations: { [annotations.retry]: value } } });
const deployments = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, {}]));

describe('a rollout', () => {
  it('begins with one workload, and continues with more as their pods become available', async () => {
    const stage = await stages.make(operator, 'batches', deployments('a', 'b', 'c', 'd'));
    await stage.activate();
    await stage.waitForInstrumented('a');
    await stage.waitForCondition({
      status: 'False',
      reason: 'Progressing',
      message: 'In progress: Deployment/a. 3 workloads are queued',
    });
    const listed = async () => (await stage.status())?.instrumentedResources;
    await eventually(async () => expect(await listed()).toMatchObject([{ name: 'a', state: 'RollingOut' }]));
    await stage.stays('a');
    stage.become('ready', 'a');
    await stage.waitForInstrumented('a', 'b', 'c');
    await eventually(async () => expect(await listed()).toMatchObject([{ state: 'Verified' }, {}, {}]));
    stage.become('ready', 'b');
    await stage.stays('a', 'b', 'c');
    stage.become('ready', 'c');
    await stage.waitForInstrumented('a', 'b', 'c', 'd');
    stage.become('ready', 'd');
    await stage.waitForCondition({ status: 'True', reason: 'Complete' });
  });

  it('reverts exactly what cannot start, halts with a reason, and continues on request [F58]', async () => {
    const stage = await stages.make(operator, 'missing', deployments('a', 'b'));
    const before = await stage.read('a');
    stage.become('no-injector-image', 'a');
    await stage.activate();
    await stage.waitForReverted('a', 'InjectorImage');
    expect((await stage.read('a'))['spec']).toEqual(before['spec']);
    await stage.waitForCondition({ reason: 'Halted' });
    await stage.stays();
    const { message } = (await stage.rolledOut()) ?? {};
    expect(message).toContain('Deployment/a was reverted (InjectorImage)');
    expect(message).toContain("container 'lumigo-injector': ImagePullBackOff, not found");
    expect(await stage.reasons('a')).toEqual(['LumigoAddedInstrumentation', 'LumigoRevertedInstrumentation']);
    await eventually(async () => expect(await stage.reasons('lumigo')).toEqual(['LumigoRolloutHalted']));
    expect(await operator.metric('lumigo_operator_rollout_halted')).toBe(1);
    await stage.merge('b', { spec: { paused: true } });
    stage.become('ready', 'a');
    await stage.merge('a', retry());
    await stage.waitForInstrumented('a');
    expect(await stage.getRevert('a')).toBeUndefined();
    await eventually(async () => expect(await operator.metric('lumigo_operator_rollout_halted')).toBe(0));
  });

  it('retries one of five workloads on request, and then the others, once the injector is there', async () => {
    const stage = await stages.make(operator, 'repaired', {});
    const names = ['a', 'b', 'c', 'd', 'e'];
    stage.become('no-injector-image', ...names);
    await stage.activate();
    await stage.testCluster.waitForWebhook(stage.namespace);
    await Promise.all(names.map((name) => stage.create(name)));
    for (const name of names) await stage.waitForReverted(name, 'InjectorImage');
    stage.become('ready', ...names);
    await stage.stays();
    await stage.merge('c', retry());
    await stage.waitForInstrumented(...names);
    await stage.waitForCondition({ status: 'True', reason: 'Complete' });
  });

  it('continues beside a reverted workload that its user has excluded', async () => {
    const stage = await stages.make(operator, 'excluded', deployments('a', 'b'));
    const key = '0'.repeat(16);
    const revert = `reverted 2020-01-01T00:00:00.000Z by controller; cause=Crash attempt=1 key=${key}: a lie`;
    const given = { [annotations.instrumentation]: revert, [annotations.excludeContainers]: 'app' };
    await stage.merge('a', { metadata: { annotations: given } });
    await stage.merge('b', { spec: { paused: true } });
    await stage.activate();
    await stage.waitForCondition({ message: expect.stringContaining('Deployment/b is paused') as unknown as string });
    // By then the other one has had its turn.
    await sleep(3_000);
    await stage.merge('b', { spec: { paused: false } });
    await stage.waitForInstrumented('b');
    stage.become('ready', 'b');
    await stage.waitForCondition({ status: 'True', reason: 'Complete' });
  });

  it('continues after the operator is killed, with workloads in progress and reverted ones', async () => {
    const stage = await stages.make(operator, 'killed', deployments('a', 'b', 'c'));
    await stage.activate();
    await stage.waitForInstrumented('a');
    await operator.killManager();
    await operator.startManager();
    await stage.stays('a');
    stage.become('ready', 'a');
    await stage.waitForInstrumented('a', 'b', 'c');
    await operator.killManager();
    stage.become('crashes', 'b');
    stage.become('no-injector-image', 'c');
    await operator.startManager();
    await stage.waitForInstrumented('a');
    expect([(await stage.getRevert('b'))?.cause, (await stage.getRevert('c'))?.cause]).toEqual([
      'Crash',
      'InjectorImage',
    ]);
    expect((await stage.getRevert('b'))?.evidence).toContain('the last words');
  });

  it('judges an injection of an earlier leader before a further change', async () => {
    const stage = await stages.make(operator, 'takeover', deployments('a'));
    await stage.activate();
    await stage.waitForInstrumented('a');
    await operator.killManager();
    stage.become('crashes', 'a');
    await stage.testCluster.changeLumigo(stage.namespace, { spec: { logging: { enabled: true } } });
    await operator.startManager();
    await stage.waitForReverted('a', 'Crash');
  });

  it('waits for workloads that are paused or fail, and not for those without pods', async () => {
    const stage = await stages.make(operator, 'blocked', {
      fails: {},
      paused: { spec: { paused: true } },
      still: { spec: { replicas: 0 } },
    });
    stage.become('ready', 'fails');
    stage.fail('fails', true);
    await eventually(async () => expect((await stage.read('fails'))['status']).not.toHaveProperty('availableReplicas'));
    await stage.activate();
    await stage.waitForInstrumented('still');
    await stage.waitForCondition({
      reason: 'Blocked',
      message:
        'The operator waits because Deployment/fails has pods that are not available. The operator waits because Deployment/paused is paused',
    });
    stage.fail('fails', false);
    await stage.waitForInstrumented('fails', 'still');
  });

  it('continues with a workload that becomes healthy while it is read', async () => {
    const stage = await stages.make(operator, 'overtaken', deployments('a'));
    let isRead = false;
    let show = (): void => undefined;
    const shown = new Promise<void>((resolve) => (show = resolve));
    stage.become('ready', 'a');
    stage.fail('a', true);
    await eventually(async () => expect((await stage.read('a'))['status']).not.toHaveProperty('availableReplicas'));
    await stage.activate();
    await stage.waitForCondition({ reason: 'Blocked' });
    const ofA = `/namespaces/${stage.namespace}/deployments/a`;
    proxy.interfere = ({ method, path }) => {
      if (method !== 'GET' || !path.includes(ofA)) return undefined;
      isRead = true;
      return { holdAnswer: () => shown };
    };
    await stage.merge('a', { metadata: { annotations: { touched: 'yes' } } });
    await eventually(() => expect(isRead).toBe(true), { timeoutMs: 20_000 });
    stage.fail('a', false);
    await eventually(async () => expect((await stage.read('a'))['status']).toMatchObject({ availableReplicas: 2 }));
    // By then the watch has reported it.
    await sleep(1_000);
    proxy.interfere = undefined;
    show();
    await stage.waitForInstrumented('a');
  });

  /** Another team's webhook, which restores the present pod template of a workload within each write. */
  const restoreTemplate = async ({ testCluster, namespace }: RolloutStage, kind: WorkloadKind, name: string) => {
    const value = await testCluster.toTemplate(kind, namespace, name);
    endWebhook = await startMutatingWebhook({
      client: testCluster.client,
      name: 'z-undoes-changes',
      rule: { apiGroups: ['apps'], resources: [kind.plural], operations: ['CREATE', 'UPDATE'] },
      mutate: ({ metadata }) => (metadata.name === name ? [{ op: 'replace', path: '/spec/template', value }] : []),
      probe: createWorkload(kind, namespace, 'probe'),
    });
  };

  it.each([workloadKinds.deployment, workloadKinds.statefulSet])(
    'continues beside a $kind whose injection another webhook undoes within the write',
    async (kind) => {
      const stage = await stages.make(operator, 'undone', { a: { kind }, b: { kind } });
      await restoreTemplate(stage, kind, 'a');
      stage.become('ready', 'b');
      await stage.activate();
      await stage.waitForInstrumented('b');
      const message = expect.stringContaining(`${kind.kind}/a is changed back by another writer`) as unknown as string;
      await stage.waitForCondition({ reason: 'Blocked', message });
      const added = 'LumigoAddedInstrumentation';
      await eventually(async () =>
        expect(await stage.reasons('a')).toEqual([added, added, 'LumigoInstrumentationContested']),
      );
      expect((await stage.status())?.instrumentedResources).not.toContainEqual(
        expect.objectContaining({ name: 'a', state: 'Verified' }),
      );
    },
  );

  it('repeats a removal that another webhook undoes within the write, and names what it left', async () => {
    const kind = workloadKinds.deployment;
    const stage = await stages.make(operator, 'kept', deployments('a'));
    stage.become('ready', 'a');
    await stage.activate();
    await stage.waitForInstrumented('a');
    await restoreTemplate(stage, kind, 'a');
    await stage.testCluster.deleteLumigo(stage.namespace);
    expect(await stage.instrumented()).toEqual(['a']);
    await eventually(async () => expect(await stage.reasons('a')).toContain('LumigoInstrumentationContested'));
    expect(readFileSync(operator.manager().logFile, 'utf8')).toContain('workloads stay instrumented');
  });

  it('reverts a failing injection also if another writer removes its annotation after each write', async () => {
    const stage = await stages.make(operator, 'stripped', deployments('a'));
    await stage.activate();
    await stage.waitForInstrumented('a');
    for (let times = 0; times < 2; times += 1) {
      await eventually(async () =>
        expect((await stage.read('a')).metadata.annotations).toHaveProperty([annotations.instrumentation]),
      );
      await stage.merge('a', { metadata: { annotations: { [annotations.instrumentation]: null } } });
    }
    stage.become('crashes', 'a');
    // For a minute the operator does not write the annotation again.
    const getRevert = async () => expect(await stage.getRevert('a')).toMatchObject({ cause: 'Crash' });
    await eventually(getRevert, { timeoutMs: 40_000 });
  });

  it('reports a Job whose injector cannot start, and lets further Jobs run without the injection', async () => {
    const stage = await stages.make(operator, 'jobs', {});
    const { namespace, testCluster } = stage;
    const create = (name: string) => testCluster.create(createWorkload(workloadKinds.job, namespace, name));
    const isInjected = (name: string) => testCluster.isInstrumented(workloadKinds.job, namespace, name);
    stage.become('no-injector-image', 'a');
    await stage.activate();
    await testCluster.waitForWebhook(namespace);
    await create('a');
    expect(await isInjected('a')).toBe(true);
    await stage.waitForCondition({ reason: 'Halted' });
    expect((await stage.rolledOut())?.message).toContain('Job/a fails with the injection (InjectorImage)');
    await eventually(async () => expect(await stage.reasons('a')).toContain('LumigoCannotRemoveInstrumentation'));
    await create('b');
    expect([await isInjected('a'), await isInjected('b')]).toEqual([true, false]);
  });

  it('applies an update in the same way, and keeps other injections if the first one fails', async () => {
    const stage = await stages.make(operator, 'update', deployments('a', 'b'));
    const before = await stage.read('a');
    stage.become('ready', 'a', 'b');
    await stage.activate();
    await stage.waitForInstrumented('a', 'b');
    await stage.waitForCondition({ reason: 'Complete' });
    const former = await stage.read('b');
    stage.become('no-injector-image', 'a');
    await stage.testCluster.changeLumigo(stage.namespace, { spec: { logging: { enabled: true } } });
    await stage.waitForReverted('a', 'InjectorImage');
    await stage.waitForCondition({ reason: 'Halted' });
    expect((await stage.read('a'))['spec']).toEqual(before['spec']);
    await stage.stays('b');
    expect((await stage.read('b'))['spec']).toEqual(former['spec']);
  });

  it('reverts what is not available in time, which leaves no trace when the Lumigo is deleted', async () => {
    const stage = await stages.make(operator, 'slow', deployments('a', 'b'));
    const { metadata: before } = await stage.read('a');
    await stage.activate();
    await stage.waitForReverted('a', 'NotReady');
    expect((await stage.getRevert('a'))?.evidence).toContain('within 30 seconds');
    expect((await stage.read('a')).metadata.labels?.[labels.rollout]).toBe('reverted');
    // The write arrives, and its answer does not.
    const cut = { holdAnswer: () => sleep(300), cutBody: true } as const;
    const isWrite = ({ method, path }: { method: string; path: string }) =>
      method === 'PATCH' && path.includes(`/${stage.namespace}/deployments/a`);
    proxy.interfere = (passing) => (isWrite(passing) ? cut : undefined);
    await stage.testCluster.deleteLumigo(stage.namespace);
    proxy.interfere = undefined;
    const { metadata } = await stage.read('a');
    expect(metadata.labels).toEqual(before.labels);
    expect(Object.keys(metadata.annotations ?? {})).toEqual(Object.keys(before.annotations ?? {}));
    await stage.activate();
    await stage.waitForInstrumented('a');
  });

  it('continues beside a workload whose injection another writer undoes [F4]', async () => {
    const stage = await stages.make(operator, 'undone', { a: {}, b: { spec: { paused: true } } });
    const ofA = { ...workloadKinds.deployment, namespace: stage.namespace, name: 'a' };
    const { template: value } = (await stage.read('a'))['spec'] as { readonly template: object };
    const undo = { kind: 'json', operations: [{ op: 'replace', path: '/spec/template', value }] } as const;
    await operator.withoutWebhook(async () => {
      await stage.activate();
      for (let times = 0; times < 2; times += 1) {
        await stage.waitForInstrumented('a');
        await operator.cluster.client.patch(ofA, undo);
      }
      await stage.merge('b', { spec: { paused: false } });
      await eventually(async () => expect(await stage.instrumented()).toEqual(['b']));
      const message = expect.stringContaining('Deployment/a is changed back by another writer') as unknown as string;
      await stage.waitForCondition({ reason: 'Progressing', message });
    });
  });

  it('reverts a failing injection also after the Lumigo has become inactive', async () => {
    const stage = await stages.make(operator, 'inactive', deployments('a', 'b'));
    await stage.activate();
    await stage.waitForInstrumented('a');
    const secretRef = { key: 'a-typo' };
    await stage.testCluster.changeLumigo(stage.namespace, { spec: { lumigoToken: { secretRef } } });
    await stage.testCluster.waitForCondition(stage.namespace, 'Active', { reason: 'SecretKeyNotFound' });
    stage.become('crashes', 'a');
    await stage.waitForReverted('a', 'Crash');
    await stage.waitForCondition({ reason: 'Reverted' });
    await stage.stays();
  });

  it('evicts the pod for which a StatefulSet waits after the injection is switched off [F58]', async () => {
    const stage = await stages.make(operator, 'off', {
      db: { kind: workloadKinds.statefulSet, spec: { replicas: 2 } },
    });
    const injectedPods = () => stage.kubelet.seen('db').filter(({ injector }) => injector !== undefined);
    await stage.activate();
    await eventually(() => expect(injectedPods()).toMatchObject([{ name: 'db-1', ordered: 'unready' }]));
    await stage.testCluster.changeLumigo(stage.namespace, { spec: { tracing: { injection: { enabled: false } } } });
    await stage.waitForInstrumented();
    await eventually(() => expect(injectedPods()).toEqual([]), { timeoutMs: 60_000 });
  });

  it('leaves workloads until their next change or their approval, if the settings say so', async () => {
    const restart = async (rolloutStrategy: 'on-next-change' | 'manual') => {
      await operator.stopManager();
      await operator.startManager({ config: { rolloutStrategy } });
    };
    await restart('on-next-change');
    const stage = await stages.make(operator, 'left', deployments('a', 'b'));
    await stage.activate();
    await stage.waitForCondition({ reason: 'LeftForNow' });
    await stage.merge('b', retry());
    await stage.stays();
    await stage.merge('b', retry(null));
    await restart('manual');
    await stage.merge('a', retry());
    await stage.waitForInstrumented('a');
    await stage.stays('a');
  });
});
