import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { apply, toRef } from '../../sandbox/manager/apply.ts';
import { runInContainer } from '../../sandbox/manager/command.ts';
import { getDefinitions } from '../../sandbox/programs/definitions.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { podStatus } from '../../sandbox/testing/pod-outcomes.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { labels, pods, workloadKinds } from '../contract.ts';
import { findRevert } from '../injection/revert.ts';
import type { PatchOperation, Workload } from '../api/objects.ts';
import { guarded } from '../kubernetes/http/client.ts';

/** Argo's own definition is absent at first. The tests depend on each other, in this order. */
let operator: OperatorBench;
let testCluster: OperatorBench['testCluster'];
let namespace: string;
beforeAll(async () => {
  operator = await startOperator({
    settings: { rollout: { soakSeconds: 1 } },
    controllerManager: false,
    apiServerFlags: ['--disable-admission-plugins=ServiceAccount'],
  });
  ({ testCluster } = operator);
  namespace = await testCluster.namespace('argo');
  await testCluster.activate(namespace);
});
afterAll(() => operator?.stop());

const rollouts = workloadKinds.rollout;
const [definition] = getDefinitions('argo', ['rollout-crd']);
if (definition === undefined) throw new Error('there is no definition of Rollouts');

const command = (...args: string[]) => runInContainer(operator.cluster, operator.installation, args);

/** Limits are numbers, as users may write them: the definition does not convert them. */
function getRollout(name: string, spec: object = {}) {
  const { spec: common, ...rest } = createWorkload(rollouts, namespace, name);
  const { template, ...more } = common as { template: { spec: { containers: object[] } } };
  const resources = { limits: { cpu: 1, memory: '64Mi' } };
  const containers = template.spec.containers.map((each) => ({ ...each, resources }));
  const strategy = { canary: { steps: [{ setWeight: 50 }, { pause: {} }] } };
  return { ...rest, spec: { ...more, template: { ...template, spec: { containers } }, strategy, ...spec } };
}

function withVolume(spec: object, volume: unknown): object {
  const { template, ...more } = spec as { template: { spec: object } };
  return { ...more, template: { ...template, spec: { ...template.spec, volumes: [volume] } } };
}

async function setStatus(name: string, status: object): Promise<void> {
  const { generation } = (await testCluster.get(rollouts, namespace, name)).metadata;
  await testCluster.setStatus({ ...rollouts, namespace, name }, { observedGeneration: String(generation), ...status });
}

async function startCrashing(name: string, hash: string): Promise<void> {
  const { metadata, spec } = await testCluster.toTemplate(rollouts, namespace, name);
  const pod = await testCluster.create({
    apiVersion: 'v1',
    kind: 'Pod',
    spec: { ...spec, automountServiceAccountToken: false },
    metadata: {
      namespace,
      name: `${name}-${hash}-0`,
      annotations: metadata?.annotations ?? {},
      labels: { ...metadata?.labels, 'rollouts-pod-template-hash': hash },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `${name}-${hash}`, uid: hash, controller: true },
      ],
    },
  });
  await testCluster.setStatus({ ...pods, namespace, name: pod.metadata.name }, podStatus('crashes', pod));
}

const complaints = (): string[] =>
  readFileSync(operator.manager().logFile, 'utf8')
    .split('\n')
    .filter((line) => /"level":"?(warn|error|40|50)/.test(line) && line.includes('rollouts'));

describe('without Argo Rollouts', () => {
  it('nothing fails, and no error is logged', async () => {
    await testCluster.create(createWorkload(workloadKinds.deployment, namespace, 'own'));
    await testCluster.waitForInstrumented(workloadKinds.deployment, namespace, 'own');
    const preview = await command('preview', '-n', namespace);
    expect(preview).toMatchObject({ code: 0, stderr: expect.not.stringContaining('rollouts') });
    expect(preview.stdout).toContain('Deployment/own');
    expect(complaints()).toEqual([]);
  });
});

describe('with Argo Rollouts', () => {
  beforeAll(async () => {
    await apply(operator.cluster.client, definition);
  });

  it('a new Rollout is instrumented by the webhook, and its ReplicaSets follow it', async () => {
    await eventually(() => testCluster.create(getRollout('created')));
    await testCluster.waitForInstrumented(rollouts, namespace, 'created');
    const { metadata, ...rest } = createWorkload(workloadKinds.replicaSet, namespace, 'created-abc');
    const { uid } = (await testCluster.get(rollouts, namespace, 'created')).metadata;
    const owner = { apiVersion: rollouts.apiVersion, kind: 'Rollout', name: 'created', uid, controller: true };
    await testCluster.create({ ...rest, metadata: { ...metadata, ownerReferences: [owner] } as never });
    expect(await testCluster.isInstrumented(workloadKinds.replicaSet, namespace, 'created-abc')).toBe(false);
  });

  it('one that the webhook has missed is instrumented within seconds, with an event', async () => {
    await operator.withoutWebhook(() => testCluster.create(getRollout('missed')));
    await eventually(async () => expect(await testCluster.isInstrumented(rollouts, namespace, 'missed')).toBe(true), {
      timeoutMs: 10_000,
    });
    await eventually(async () =>
      expect(await testCluster.events(namespace, 'missed')).toMatchObject([{ reason: 'LumigoAddedInstrumentation' }]),
    );
  });

  it('one that takes its template from a Deployment is skipped, and the Deployment is not', async () => {
    const ref = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'own' };
    const { spec, ...rest } = getRollout('referring', { workloadRef: ref });
    const { template: _template, selector: _selector, ...own } = spec as { template?: unknown; selector?: unknown };
    await testCluster.create({ ...rest, spec: own });
    const explained = await command('explain', 'ro/referring', '-n', namespace);
    expect(explained).toMatchObject({ code: 0, stderr: '' });
    expect(explained.stdout).toContain('has no pod template');
    expect((await testCluster.get(rollouts, namespace, 'referring')).metadata.labels).toEqual({ app: 'referring' });
  });

  it('one whose pods fail is reverted, exactly [F58]', async () => {
    await testCluster.create(getRollout('failing', { replicas: 2 }));
    await testCluster.waitForInstrumented(rollouts, namespace, 'failing');
    await startCrashing('failing', 'r1');
    const status = { currentPodHash: 'r1', updatedReplicas: 1, availableReplicas: 0 };
    await setStatus('failing', { ...status, replicas: 1, readyReplicas: 0 });
    await testCluster.waitForInstrumented(rollouts, namespace, 'failing', false);
    const after = await testCluster.get(rollouts, namespace, 'failing');
    expect(after['spec']).toEqual(getRollout('failing', { replicas: 2 }).spec);
    expect(findRevert(after.metadata)).toMatchObject({ cause: 'Crash' });
  });

  it('one with a volume that is null is skipped, and the preview lists the others', async () => {
    const { spec, metadata, ...rest } = getRollout('odd');
    const own = { ...metadata, labels: { ...metadata.labels, [labels.autoTrace]: 'false' } };
    await testCluster.create({ ...rest, metadata: own, spec: withVolume(spec, null) });
    const preview = await command('preview', '-n', namespace);
    expect(preview).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('Rollout/created') });
    const explained = await command('explain', 'ro/odd', '-n', namespace);
    expect(explained).toMatchObject({ code: 0, stdout: expect.stringContaining('has no pod template') });
  });

  it('an injected one with a volume that is null is named by the uninstallation, until it is corrected', async () => {
    const ref = { ...rollouts, namespace, name: 'created' };
    const change = async (operation: PatchOperation) => {
      const { resourceVersion = '' } = (await testCluster.get(rollouts, namespace, 'created')).metadata;
      await operator.cluster.client.patch(ref, guarded(resourceVersion, [operation]));
    };
    await change({ op: 'add', path: '/spec/template/spec/volumes/-', value: null });
    const { code, stderr } = await command('uninstall', '--deadline', '20');
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/Rollout argo\S+\/created stays instrumented: .* is null/),
    ]);
    await change({ op: 'remove', path: '/spec/template/spec/volumes/1' });
  });

  it('nothing is left after uninstallation, and the end of the definition logs no error', async () => {
    const { cluster } = operator;
    expect(await command('uninstall', '--deadline', '60')).toMatchObject({ code: 0, stderr: '' });
    expect((await testCluster.get(rollouts, namespace, 'odd'))['spec']).toEqual(
      withVolume(getRollout('odd').spec, null),
    );
    for (const name of ['created', 'missed']) {
      const { metadata, spec } = (await testCluster.get(rollouts, namespace, name)) as Workload & { spec: unknown };
      expect([metadata.labels, metadata.annotations]).toEqual([{ app: name }, undefined]);
      expect(spec).toEqual(getRollout(name).spec);
    }
    await cluster.client.delete(toRef(definition));
    expect(await command('preview')).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^No namespace has .*\n$/),
    });
    expect(complaints()).toEqual([]);
  });
});
