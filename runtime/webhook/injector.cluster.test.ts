import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { environment, injector, labels, lumigo as contract, workloadKinds, type WorkloadKind } from '../contract.ts';
import { operatorUser } from '../../infra/constructs/access.ts';
import { connectTo } from '../../sandbox/control-plane/connect.ts';
import type { Manifest } from '../kubernetes/resources/objects.ts';
import { createClient } from '../kubernetes/http/client.ts';
import { getLumigo } from '../../sandbox/lumigo.ts';
import { apply as applyAs } from '../../sandbox/manager/apply.ts';
import { eventually, nextSecond } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { refuse } from '../../sandbox/testing/refuse-changes.ts';
import { mutableKinds, createWorkload } from '../../sandbox/testing/workloads.ts';

let operator: OperatorBench;
let testCluster: OperatorBench['testCluster'];
beforeAll(async () => {
  operator = await startOperator({ controllerManager: false });
  ({ testCluster } = operator);
});
afterAll(() => operator?.stop());

const { deployment, job } = workloadKinds;
const cannotAdd = 'LumigoCannotAddInstrumentation';

// The first one: the probe uses the namespaces in turn, and there is no other one yet.
it('the probe of the webhook succeeds with a workload that is too large to be reviewed', async () => {
  const namespace = await testCluster.namespace('large');
  const app = { name: 'app', image: 'app:1', args: ['x'.repeat(600_000)] };
  await testCluster.create(createWorkload(deployment, namespace, 'app', { pod: { containers: [app] } }));
  await testCluster.activate(namespace);
  await testCluster.waitForCondition(namespace, 'WebhookReachable', { status: 'True', reason: 'ProbeSucceeded' });
});

it('a workload of a namespace without a Lumigo is not changed', async () => {
  const namespace = await testCluster.namespace('elsewhere');
  await testCluster.create(createWorkload(deployment, namespace, 'plain'));
  expect(await testCluster.isInstrumented(deployment, namespace, 'plain')).toBe(false);
});

describe('in a namespace with a Lumigo', () => {
  const valueFrom = { configMapKeyRef: { name: 'c', key: 'k' } };
  const skipped = { name: 'own', image: 'own:1', env: [{ name: environment.preload, valueFrom }] };
  const pod = { containers: [{ name: 'app', image: 'app:1' }, skipped] };
  const waitForReasons = (name: string, ...reasons: readonly string[]) =>
    eventually(async () => expect(await testCluster.reasons(inside, name)).toEqual(reasons));
  let inside: string;
  beforeAll(async () => {
    inside = await testCluster.instrumented('inside');
    // The webhook leaves a first CronJob. Once the Deployment is listed, none is the first.
    await eventually(async () =>
      expect((await testCluster.readLumigo(inside)).status?.instrumentedResources).toHaveLength(1),
    );
  });

  /** Creates a workload, of which one container is skipped, and checks that it is stored instrumented. */
  async function createNew(kind: WorkloadKind, name: string): Promise<void> {
    const { metadata } = await testCluster.create(createWorkload(kind, inside, name, { pod }));
    expect(await testCluster.isInstrumented(kind, inside, name)).toBe(true);
    expect(metadata.labels?.[labels.autoTrace]).toMatch(/^lumigo-operator\.v/);
    await waitForReasons(name, 'LumigoAddedInstrumentation');
    const [event] = await testCluster.events(inside, name);
    expect(event?.involvedObject.uid).toBe(metadata.uid);
    expect(event?.message).toMatch(/injector webhook.*container 'own' is skipped: its LD_PRELOAD uses valueFrom/s);
  }

  it.each(mutableKinds)(
    'a new %s is stored instrumented, which an opt-out removes, and an opt-in adds again [D1, D19]',
    async (_, kind) => {
      const name = `new-${kind.plural}`;
      await createNew(kind, name);
      const outside = await testCluster.namespace('outside');
      await testCluster.create(createWorkload(kind, outside, name, { pod }));
      const setLabel = (value: string | null) =>
        testCluster.merge(kind, inside, name, { metadata: { labels: { [labels.autoTrace]: value } } });
      await setLabel('FALSE');
      expect(await testCluster.toTemplate(kind, inside, name)).toEqual(
        await testCluster.toTemplate(kind, outside, name),
      );
      expect(await testCluster.label(kind, inside, name)).toBe('FALSE');
      // The reconciler may miss a state of a few milliseconds, so the test waits for the event.
      await waitForReasons(name, 'LumigoAddedInstrumentation', 'LumigoRemovedInstrumentation');
      const removal = (await testCluster.events(inside, name)).find(({ reason }) => reason.includes('Removed'));
      expect(removal?.message).toMatch(/removed \(trigger: injector webhook, acting on behalf of/);
      await setLabel(null);
      expect(await testCluster.isInstrumented(kind, inside, name)).toBe(true);
      const added = ['LumigoAddedInstrumentation', 'LumigoAddedInstrumentation'];
      await waitForReasons(name, ...added, 'LumigoRemovedInstrumentation');
    },
  );

  // The leader judges the first Job of a namespace before it injects others.
  it('a new Job is stored instrumented, and its manifest can be applied again [D1]', async () => {
    await createNew(job, 'new-job');
    const before = await testCluster.toTemplate(job, inside, 'new-job');
    const { containers } = pod;
    await testCluster.merge(job, inside, 'new-job', { spec: { template: { spec: { containers } } } });
    expect(await testCluster.toTemplate(job, inside, 'new-job')).toEqual(before);
  });

  it('a second Lumigo is refused on creation, also under the name of the first [D16]', async () => {
    await expect(testCluster.lumigo(inside, {}, 'second')).rejects.toThrow(
      `There is already a Lumigo resource in the '${inside}' namespace: 'lumigo'`,
    );
    await expect(testCluster.lumigo(inside)).rejects.toMatchObject({ reason: 'AlreadyExists' });
  });
});

it("a user's change passes a policy that refuses the injection, which follows when the policy ends", async () => {
  const namespace = await testCluster.namespace('strict');
  const image = { name: injector.container, image: 'refused:1' };
  const refused = createWorkload(deployment, namespace, 'refused', { pod: { initContainers: [image] } });
  await testCluster.create(createWorkload(deployment, namespace, 'app'));
  const relent = await refuse(testCluster.client, `refuse-${namespace}`, {
    namespace,
    rule: { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['deployments'] },
    expression: '!has(object.spec.template.spec.initContainers)',
    message: 'there must be no init container',
    attempt: () => testCluster.dryRun(refused),
  });
  await testCluster.activate(namespace);
  const getHealth = async () => (await testCluster.readLumigo(namespace)).status?.injector?.health;
  await eventually(async () => expect(await testCluster.reasons(namespace, 'app')).toContain(cannotAdd));
  const next = { spec: { template: { spec: { containers: [{ name: 'app', image: 'app:2' }] } } } };
  // The webhook learns of the refusal a moment later.
  await eventually(() => testCluster.merge(deployment, namespace, 'app', next));
  expect(await getHealth()).toBe('failing');
  await testCluster.create(createWorkload(deployment, namespace, 'new'));
  expect(await testCluster.isInstrumented(deployment, namespace, 'new')).toBe(false);
  await relent();
  for (const name of ['app', 'new']) await testCluster.waitForInstrumented(deployment, namespace, name);
  await eventually(async () => expect(await getHealth()).toBeUndefined());
});

it("the webhook injects users' changes if a policy refuses each change of the operator, also an empty one", async () => {
  const namespace = await testCluster.namespace('owned');
  const { cluster, installation } = operator;
  const user = operatorUser(installation.settings);
  const transport = connectTo(cluster, { as: user });
  const asOperator = createClient(transport);
  const at = (name: string) => ({ ...deployment, namespace, name });
  const changeNothing = () => asOperator.patch(at('app'), { kind: 'merge', body: {} }, { dryRun: true });
  for (const name of ['app', 'other']) await testCluster.create(createWorkload(deployment, namespace, name));
  await changeNothing();
  await refuse(testCluster.client, `own-${namespace}`, {
    namespace,
    rule: { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['deployments'] },
    expression: `request.userInfo.username != '${user}'`,
    message: 'only a pipeline changes workloads',
    attempt: changeNothing,
  });
  transport.close();
  await testCluster.activate(namespace);
  await eventually(async () => expect(await testCluster.reasons(namespace, 'app')).toContain(cannotAdd));
  // A report follows a refusal within a second.
  for (let second = 0; second < 2; second += 1) await nextSecond();
  expect((await testCluster.readLumigo(namespace)).status?.injector?.health).not.toBe('failing');
  const next = { spec: { template: { spec: { containers: [{ name: 'app', image: 'app:2' }] } } } };
  await testCluster.merge(deployment, namespace, 'app', next);
  expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(true);
});

describe('a change while the webhook is down', () => {
  let inside: string;
  let alone: string;
  beforeAll(async () => {
    alone = await testCluster.namespace('alone');
    inside = await testCluster.namespace('away');
    for (const name of ['opted-out', 'rolled-back']) await testCluster.create(createWorkload(deployment, inside, name));
    const value = await testCluster.toTemplate(deployment, inside, 'rolled-back');
    await testCluster.activate(inside);
    for (const name of ['opted-out', 'rolled-back']) await testCluster.waitForInstrumented(deployment, inside, name);
    await operator.stopManager();
    await nextSecond();
    await testCluster.create(createWorkload(deployment, inside, 'created'));
    await testCluster.create(createWorkload(deployment, alone, 'app', { labels: { [labels.autoTrace]: 'true' } }));
    await testCluster.merge(deployment, inside, 'opted-out', { metadata: { labels: { [labels.autoTrace]: 'false' } } });
    const operations = [{ op: 'replace' as const, path: '/spec/template', value }];
    await testCluster.client.patch(
      { ...deployment, namespace: inside, name: 'rolled-back' },
      { kind: 'json', operations },
    );
    expect(await testCluster.isInstrumented(deployment, inside, 'opted-out')).toBe(true);
    expect(await testCluster.isInstrumented(deployment, inside, 'rolled-back')).toBe(false);
    await operator.startManager();
  });

  it('creates workloads, which count as missed and are instrumented once it is back [D12, D30]', async () => {
    await testCluster.waitForInstrumented(deployment, inside, 'created');
    await testCluster.waitForInstrumented(deployment, alone, 'app');
    await eventually(async () => expect(await operator.metric('lumigo_operator_missed_injections_total')).toBe(2));
  });

  it('opts out, which takes effect once it is back', () =>
    testCluster.waitForInstrumented(deployment, inside, 'opted-out', false));

  it('rolls back to a template without the injection, which is injected again', () =>
    testCluster.waitForInstrumented(deployment, inside, 'rolled-back'));
});

describe('a tool that applies a workload server-side', () => {
  /** An apply removes fields that it no longer names, unless another manager such as the reconciler owns them. */
  const apply = (manifest: Manifest) => applyAs(operator.cluster.client, manifest, 'a-tool');
  const container = (name: string, env: readonly object[] = []) => ({ name, image: 'app:1', env });
  const shop = (name: string, ...containers: readonly object[]) =>
    createWorkload(deployment, inside, name, { pod: { containers } });
  const lone = (name: string, optIn?: string) =>
    createWorkload(deployment, outside, name, {
      labels: optIn === undefined ? {} : { [labels.autoTrace]: optIn },
      pod: { containers: [container('app')] },
    });
  const applyFirst = async (name: string) => {
    await apply(shop(name, container('app', [{ name: environment.preload, value: '/own.so' }]), container('sidecar')));
    await apply(lone(name, 'true'));
    await testCluster.waitForInstrumented(deployment, inside, name);
    await testCluster.waitForInstrumented(deployment, outside, name);
  };
  let inside: string;
  let outside: string;
  beforeAll(async () => {
    inside = await testCluster.namespace('gitops');
    await testCluster.activate(inside);
    outside = await testCluster.namespace('lone');
    await testCluster.secret(outside);
    await operator.withoutWebhook(async () => {
      await applyFirst('by-reconciler');
      for (const name of ['kept', 'set-again']) await apply(lone(name, 'true'));
      for (const name of ['kept', 'set-again']) await testCluster.waitForInstrumented(deployment, outside, name);
    });
    await applyFirst('by-webhook');
  });

  describe.each(['by-reconciler', 'by-webhook'])('with a workload instrumented %s', (name) => {
    it('can remove a variable that the injection has extended, and a container', async () => {
      const containers = async () => (await testCluster.toTemplate(deployment, inside, name)).spec.containers;
      await apply(shop(name, container('app'), container('sidecar')));
      const preloads = (await containers()).map(({ env }) => env?.find((each) => each.name === environment.preload));
      expect(preloads.map((each) => each?.value)).toEqual([injector.preload, injector.preload]);
      await apply(shop(name, container('renamed')));
      expect((await containers()).map((each) => each.name)).toEqual(['renamed']);
    });

    it('can end an opt-in by the label', async () => {
      await apply(lone(name, 'false'));
      await eventually(async () => expect(await testCluster.label(deployment, outside, name)).toBe('false'));
      await testCluster.waitForInstrumented(deployment, outside, name, false);
    });
  });

  it('no longer names an opt-in, which ends if the tool set the label last and not the reconciler', async () => {
    await apply(lone('set-again', 'true'));
    for (const name of ['kept', 'set-again']) await apply(lone(name));
    await testCluster.waitForInstrumented(deployment, outside, 'set-again', false);
    expect(await testCluster.isInstrumented(deployment, outside, 'kept')).toBe(true);
  });
});

it('a second Lumigo is accepted while the first is being deleted, and keeps existing injections [F29]', async () => {
  const { cluster, refuseChanges } = operator;
  const namespace = await testCluster.namespace('succeeded');
  await testCluster.activate(namespace);
  await testCluster.create(createWorkload(deployment, namespace, 'app', { labels: { held: 'yes' } }));
  await testCluster.waitForInstrumented(deployment, namespace, 'app');
  const relent = await refuseChanges(namespace, { held: 'yes' });
  const { uid } = (await testCluster.readLumigo(namespace)).metadata;
  await cluster.client.delete({ ...contract, namespace, name: 'lumigo' });
  expect((await testCluster.readLumigo(namespace)).metadata.deletionTimestamp).toBeDefined();
  // The webhook learns of the deletion a moment later, and refuses until then.
  await eventually(() => testCluster.lumigo(namespace, {}, 'second'));
  await testCluster.waitForActive(namespace, 'second');
  await eventually(() => expect(testCluster.readLumigo(namespace)).rejects.toThrow('not found'));
  await relent();
  expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(true);
  expect((await testCluster.readLumigo(namespace, 'second')).metadata.uid).not.toBe(uid);
});

it('a Lumigo is refused while finalizers of others keep ten in the namespace [F66]', async () => {
  const { client } = operator.cluster;
  const namespace = await testCluster.namespace('held');
  const names = Array.from({ length: 10 }, (_, index) => `held-${index}`);
  const create = (name: string) => {
    const { metadata, ...rest } = getLumigo(namespace, {}, name);
    return testCluster.create({ ...rest, metadata: { ...metadata, finalizers: ['example.com/held'] } });
  };
  for (const name of names) {
    await eventually(() => create(name));
    await client.delete({ ...contract, namespace, name });
  }
  const message = `The '${namespace}' namespace still has 10 Lumigo resources`;
  const ask = () => client.create({ ...contract, namespace }, getLumigo(namespace), { dryRun: true });
  await eventually(() => expect(ask()).rejects.toThrow(message));
  await testCluster.changeLumigo(namespace, { metadata: { finalizers: null } }, 'held-0');
  await eventually(() => testCluster.lumigo(namespace));
  for (const name of names.slice(1))
    await testCluster.changeLumigo(namespace, { metadata: { finalizers: null } }, name);
});
