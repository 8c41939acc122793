import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { startApiProxy, type ApiProxy } from '../../sandbox/faults/api-proxy.ts';
import { RolloutStages, type RolloutStage } from '../../sandbox/testing/rollout-stage.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startMutatingWebhook } from '../../sandbox/testing/mutating-webhook.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { annotations, labels, workloadKinds } from '../contract.ts';

/** Real controllers create the pods, and the test sets their status. */
let operator: OperatorBench;
let proxy: ApiProxy;
const stages = new RolloutStages();
beforeAll(async () => {
  operator = await startOperator({
    settings: { rollout: { soakSeconds: 1, deadlineSeconds: 30 } },
    through: async (cluster) => (proxy = await startApiProxy(cluster)),
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
});

const retry = { metadata: { annotations: { [annotations.retry]: '1' } } };
const { deployment, job } = workloadKinds;
const deployments = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, {}]));

describe('a rollout', () => {
  it('goes on in batches as pods become available, by risk, and halts if an update fails twice [F73]', async () => {
    const stage = await stages.make(operator, 'batches', {
      // All of its pods end before one starts, so it is the last.
      '0': { spec: { strategy: { type: 'Recreate' } } },
      ...deployments('a', 'b', 'c'),
    });
    const before = await stage.read('a');
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
    await stage.waitForInstrumented('0', 'a', 'b', 'c');
    stage.become('ready', '0');
    await stage.waitForCondition({ status: 'True', reason: 'Complete' });
    const former = await stage.read('c');
    stage.become('no-injector-image', 'a', 'b');
    await stage.testCluster.changeLumigo(stage.namespace, { spec: { logging: { enabled: true } } });
    await stage.waitForReverted('a', 'InjectorImage');
    await stage.waitForReverted('b', 'InjectorImage');
    await stage.waitForCondition({ reason: 'Halted' });
    expect((await stage.read('a'))['spec']).toEqual(before['spec']);
    await stage.stays('0', 'c');
    expect((await stage.read('c'))['spec']).toEqual(former['spec']);
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
    await stage.merge('a', retry);
    await stage.waitForInstrumented('a');
    expect(await stage.getRevert('a')).toBeUndefined();
    await eventually(async () => expect(await operator.metric('lumigo_operator_rollout_halted')).toBe(0));
  });

  it('continues if the injector fails in one workload after it ran in another one', async () => {
    // The batch after `a` is `b` and `c`.
    const stage = await stages.make(operator, 'other-pool', deployments('a', 'b', 'c', 'd'));
    stage.become('ready', 'a', 'c', 'd');
    stage.become('no-injector-image', 'b');
    await stage.activate();
    await stage.waitForReverted('b', 'InjectorImage');
    await stage.waitForInstrumented('a', 'c', 'd');
    await stage.waitForCondition({ reason: 'Reverted' });
  });

  it('continues after the operator is killed, and judges injections before a further change', async () => {
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
    await stage.testCluster.changeLumigo(stage.namespace, { spec: { logging: { enabled: true } } });
    await operator.startManager();
    await stage.waitForInstrumented('a');
    expect([(await stage.getRevert('b'))?.cause, (await stage.getRevert('c'))?.cause]).toEqual([
      'Crash',
      'InjectorImage',
    ]);
    expect((await stage.getRevert('b'))?.evidence).toContain('the last words');
    stage.become('ready', 'b', 'c');
    await stage.merge('b', retry);
    await stage.waitForInstrumented('a', 'b', 'c');
  });

  it('waits for workloads that are paused or fail, until one becomes healthy while it is read', async () => {
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
    let isRead = false;
    let show = (): void => undefined;
    const shown = new Promise<void>((resolve) => (show = resolve));
    proxy.interfere = ({ method, path }) => {
      if (method !== 'GET' || !path.includes(`/namespaces/${stage.namespace}/deployments/fails`)) return undefined;
      isRead = true;
      return { holdAnswer: () => shown };
    };
    await stage.merge('fails', { metadata: { annotations: { touched: 'yes' } } });
    await eventually(() => expect(isRead).toBe(true));
    stage.fail('fails', false);
    await eventually(async () => expect((await stage.read('fails'))['status']).toMatchObject({ availableReplicas: 2 }));
    // By then the watch has reported it.
    await sleep(1_000);
    proxy.interfere = undefined;
    show();
    await stage.waitForInstrumented('fails', 'still');
  });

  it('judges a workload that is deleted and created again before its watch shows it', async () => {
    const stage = await stages.make(operator, 'renewed', deployments('a'));
    const { namespace, testCluster } = stage;
    stage.become('ready', 'a');
    await stage.activate();
    await stage.waitForCondition({ status: 'True', reason: 'Complete' });
    let isRead = false;
    let show = (): void => undefined;
    const shown = new Promise<void>((resolve) => (show = resolve));
    const isLate = (path: string): boolean => path.includes('/deployments?');
    proxy.interfere = ({ path, isWatch, isWrite }) => {
      isRead ||= !isWrite && path.includes(`/namespaces/${namespace}/deployments/a`);
      return isWatch && isLate(path) ? { holdAnswer: () => shown } : undefined;
    };
    expect(proxy.cutWatches(isLate)).toBeGreaterThan(0);
    stage.become('no-injector-image', 'a');
    await testCluster.client.delete({ ...deployment, namespace, name: 'a' });
    await stage.create('a');
    await testCluster.changeLumigo(namespace, { spec: { logging: { enabled: true } } });
    await eventually(() => expect(isRead).toBe(true));
    // By then the operator has noted it.
    await sleep(1_000);
    proxy.interfere = undefined;
    show();
    await stage.waitForReverted('a', 'InjectorImage');
  });

  /** Another team's webhook, which restores the present pod template of a Deployment within each write. */
  const restoreTemplate = async ({ testCluster, namespace }: RolloutStage, name: string) => {
    const value = await testCluster.toTemplate(deployment, namespace, name);
    endWebhook = await startMutatingWebhook({
      client: testCluster.client,
      name: 'z-undoes-changes',
      rule: { apiGroups: ['apps'], resources: ['deployments'], operations: ['CREATE', 'UPDATE'] },
      mutate: ({ metadata }) => (metadata.name === name ? [{ op: 'replace', path: '/spec/template', value }] : []),
      probe: createWorkload(deployment, namespace, 'probe'),
    });
  };

  it('continues beside a workload whose injection another webhook undoes within the write [F4]', async () => {
    const stage = await stages.make(operator, 'undone', deployments('a', 'b'));
    await restoreTemplate(stage, 'a');
    stage.become('ready', 'b');
    await stage.activate();
    await stage.waitForInstrumented('b');
    const message = expect.stringContaining('Deployment/a is changed back by another writer') as unknown as string;
    await stage.waitForCondition({ reason: 'Blocked', message });
    const added = 'LumigoAddedInstrumentation';
    await eventually(async () =>
      expect(await stage.reasons('a')).toEqual([added, added, 'LumigoInstrumentationContested']),
    );
    expect((await stage.status())?.instrumentedResources).not.toContainEqual(
      expect.objectContaining({ name: 'a', state: 'Verified' }),
    );
  });

  it('repeats a removal that another webhook undoes within the write, and names what it left', async () => {
    const stage = await stages.make(operator, 'kept', deployments('a'));
    stage.become('ready', 'a');
    await stage.activate();
    await stage.waitForInstrumented('a');
    await restoreTemplate(stage, 'a');
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
    const create = (name: string) => testCluster.create(createWorkload(job, namespace, name));
    const isInjected = (name: string) => testCluster.isInstrumented(job, namespace, name);
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

  it('reports a Job whose pods the API server refuses because of the minimum of a LimitRange', async () => {
    const stage = await stages.make(operator, 'refused', {});
    const { namespace, testCluster } = stage;
    const spec = { limits: [{ type: 'Container', min: { cpu: '200m' } }] };
    await testCluster.create({ apiVersion: 'v1', kind: 'LimitRange', metadata: { namespace, name: 'least' }, spec });
    await stage.activate();
    await testCluster.waitForWebhook(namespace);
    const containers = [{ name: 'app', image: 'app:1', resources: { requests: { cpu: '500m' } } }];
    await testCluster.create(createWorkload(job, namespace, 'a', { pod: { containers } }));
    await stage.waitForCondition({ reason: 'Reverted' });
    expect((await stage.rolledOut())?.message).toContain('Job/a fails with the injection (PodsRefused)');
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

  it('leaves workloads until their approval, if the settings say so', async () => {
    await operator.stopManager();
    await operator.startManager({ config: { rolloutStrategy: 'manual' } });
    const stage = await stages.make(operator, 'left', deployments('a', 'b'));
    await stage.activate();
    await stage.waitForCondition({ reason: 'LeftForNow' });
    await stage.merge('a', retry);
    await stage.waitForInstrumented('a');
    await stage.stays('a');
  });
});
