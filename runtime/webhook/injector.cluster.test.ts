import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { annotations, environment, injector, labels, lumigo as contract, workloadKinds } from '../contract.ts';
import type { Workload } from '../api/objects.ts';
import { toTemplate } from '../injection/workload.ts';
import type { Manifest } from '../kubernetes/resources/objects.ts';
import { apply, getCollection } from '../../sandbox/manager/apply.ts';
import { eventually, nextSecond } from '../../sandbox/testing/eventually.ts';
import { startMutatingWebhook } from '../../sandbox/testing/mutating-webhook.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { everyKind, mutableKinds, createWorkload } from '../../sandbox/testing/workloads.ts';

let operator: OperatorBench;
let testCluster: OperatorBench['testCluster'];
beforeAll(async () => {
  operator = await startOperator({ controllerManager: false });
  ({ testCluster } = operator);
});
afterAll(() => operator?.stop());

const { deployment } = workloadKinds;

/** No workload without pods delays the others of these tests, because each test has its own namespace. */
async function traced(name: string): Promise<string> {
  const namespace = await testCluster.namespace(name);
  await testCluster.activate(namespace);
  await testCluster.waitForWebhook(namespace);
  return namespace;
}

// The first one: the probe uses the namespaces in turn, and there is no other one yet.
it('the probe of the webhook succeeds with a workload that is too large to be reviewed', async () => {
  const namespace = await testCluster.namespace('large');
  const app = { name: 'app', image: 'app:1', args: ['x'.repeat(600_000)] };
  await testCluster.create(createWorkload(deployment, namespace, 'app', { pod: { containers: [app] } }));
  await testCluster.activate(namespace);
  await testCluster.waitForCondition(namespace, 'WebhookReachable', { status: 'True', reason: 'ProbeSucceeded' });
});

describe('a workload that is created after the Lumigo', () => {
  it.each(everyKind)('a %s is stored instrumented, with one event [D1]', async (_name, kind) => {
    const name = `new-${kind.plural}`;
    const namespace = await traced(name);
    await testCluster.create(createWorkload(kind, namespace, name));
    expect(await testCluster.isInstrumented(kind, namespace, name)).toBe(true);
    expect(await testCluster.label(kind, namespace, name)).toMatch(/^lumigo-operator\.v/);
    await eventually(async () => {
      const events = await testCluster.events(namespace, name);
      expect(events.map(({ reason }) => reason)).toEqual(['LumigoAddedInstrumentation']);
      expect(events[0]?.message).toContain('injector webhook');
      expect(events[0]?.involvedObject.uid).toBe((await testCluster.get(kind, namespace, name)).metadata.uid);
    });
  });

  it('has an event that says which container is skipped, and why', async () => {
    const valueFrom = { configMapKeyRef: { name: 'c', key: 'k' } };
    const own = { name: 'own', image: 'own:1', env: [{ name: environment.preload, valueFrom }] };
    const containers = [{ name: 'app', image: 'app:1' }, own];
    const namespace = await traced('partly');
    await testCluster.create(createWorkload(workloadKinds.job, namespace, 'partly', { pod: { containers } }));
    await eventually(async () => {
      const [event] = await testCluster.events(namespace, 'partly');
      expect(event?.message).toContain('injector webhook');
      expect(event?.message).toContain("container 'own' is skipped: its LD_PRELOAD uses valueFrom");
    });
  });

  it.each(mutableKinds)(
    'an opt-out of a %s removes the injection, and an opt-in injects again [D19]',
    async (_name, kind) => {
      const name = `toggled-${kind.plural}`;
      const inside = await traced(name);
      // The webhook waits while a first CronJob is judged. Once this Deployment is listed, none is the first.
      await testCluster.create(createWorkload(deployment, inside, 'app'));
      await eventually(async () =>
        expect((await testCluster.readLumigo(inside)).status?.instrumentedResources).toHaveLength(1),
      );
      const outside = await testCluster.namespace('outside');
      await testCluster.create(createWorkload(kind, outside, name));
      await testCluster.create(createWorkload(kind, inside, name));
      const told = async (reason: string) =>
        eventually(async () => expect(await testCluster.reasons(inside, name)).toContain(reason));
      await told('LumigoAddedInstrumentation');
      await testCluster.merge(kind, inside, name, { metadata: { labels: { [labels.autoTrace]: 'FALSE' } } });
      expect(await testCluster.toTemplate(kind, inside, name)).toEqual(
        await testCluster.toTemplate(kind, outside, name),
      );
      expect(await testCluster.label(kind, inside, name)).toBe('FALSE');
      // The reconciler may miss a state of a few milliseconds, so the test waits for the event.
      await told('LumigoRemovedInstrumentation');
      await testCluster.merge(kind, inside, name, { metadata: { labels: { [labels.autoTrace]: null } } });
      expect(await testCluster.isInstrumented(kind, inside, name)).toBe(true);
      await eventually(async () => {
        const reasons = await testCluster.reasons(inside, name);
        expect(reasons).toEqual([
          'LumigoAddedInstrumentation',
          'LumigoAddedInstrumentation',
          'LumigoRemovedInstrumentation',
        ]);
      });
    },
  );
});

describe('an update', () => {
  it('does not change a Job [D3]', async () => {
    const { job } = workloadKinds;
    const early = await testCluster.namespace('early');
    await testCluster.create(createWorkload(job, early, 'old'));
    await testCluster.activate(early);
    await testCluster.merge(job, early, 'old', { metadata: { labels: { touched: 'yes' } } });
    expect(await testCluster.isInstrumented(job, early, 'old')).toBe(false);
    await testCluster.waitForWebhook(early);
    await testCluster.create(createWorkload(job, early, 'new'));
    await testCluster.merge(job, early, 'new', { metadata: { labels: { touched: 'yes' } } });
    expect(await testCluster.isInstrumented(job, early, 'new')).toBe(true);
  });
});

/** A team's webhook that sorts before the operator's, and is called again after it. */
async function mirrorImages(namespace: string): Promise<() => Promise<void>> {
  const { cluster } = operator;
  const mutate = (workload: Workload) => {
    const inits = toTemplate(workload)?.spec.initContainers ?? [];
    return inits.flatMap(({ image = '' }, index) =>
      image.startsWith('mirror/')
        ? []
        : [
            {
              op: 'replace',
              path: `/spec/template/spec/initContainers/${index}/image`,
              value: `mirror/${image}`,
            } as const,
          ],
    );
  };
  const probe = createWorkload(deployment, namespace, 'probe');
  const rule = { apiGroups: ['apps'], resources: ['deployments'], operations: ['CREATE', 'UPDATE'] };
  return startMutatingWebhook({ client: cluster.client, name: 'a-mirror', rule, mutate, probe });
}

describe('a change by another webhook to the image of the injector', () => {
  let endMirror: (() => Promise<void>) | undefined;
  afterAll(() => endMirror?.());

  it('stays at a creation, at an update of the program, and of its resources', async () => {
    const mirrored = await traced('mirrored');
    endMirror = await mirrorImages(mirrored);
    const getInjector = async () =>
      (await testCluster.toTemplate(deployment, mirrored, 'app')).spec.initContainers?.find(
        ({ name }) => name === 'lumigo-injector',
      );
    const change = (container: object) =>
      testCluster.merge(deployment, mirrored, 'app', {
        spec: { template: { spec: { containers: [{ name: 'app', image: 'app:2', ...container }] } } },
      });
    await testCluster.create(createWorkload(deployment, mirrored, 'app'));
    expect((await getInjector())?.image).toMatch(/^mirror\//);
    await change({});
    expect((await getInjector())?.image).toMatch(/^mirror\//);
    const limits = { cpu: '500m', memory: '64Mi' };
    await change({ resources: { limits } });
    expect(await getInjector()).toMatchObject({
      image: expect.stringMatching(/^mirror\//),
      resources: { limits: { memory: '64Mi' } },
    });
    expect(await testCluster.isInstrumented(deployment, mirrored, 'app')).toBe(true);
  });
});

describe('a workload of a namespace without a Lumigo', () => {
  it('is not changed, and neither is one in kube-system [D47]', async () => {
    const elsewhere = await testCluster.namespace('elsewhere');
    for (const namespace of [elsewhere, 'kube-system']) {
      await testCluster.create(createWorkload(deployment, namespace, 'plain'));
      expect(await testCluster.isInstrumented(deployment, namespace, 'plain')).toBe(false);
    }
  });
});

describe('a change while the webhook is down', () => {
  let created = '';
  let optedOut = '';
  let rolledBack = '';
  let alone = '';
  beforeAll(async () => {
    created = await testCluster.namespace('away');
    await testCluster.activate(created);
    optedOut = await testCluster.instrumented('caught-up');
    rolledBack = await testCluster.namespace('rolled-back');
    await testCluster.create(createWorkload(deployment, rolledBack, 'app'));
    const value = await testCluster.toTemplate(deployment, rolledBack, 'app');
    await testCluster.activate(rolledBack);
    await testCluster.waitForInstrumented(deployment, rolledBack, 'app');
    alone = await testCluster.namespace('alone');
    await operator.stopManager();
    await nextSecond();
    const optIn = { labels: { [labels.autoTrace]: 'true' } };
    await testCluster.create(createWorkload(deployment, alone, 'app', optIn));
    for (const [, kind] of mutableKinds) await testCluster.create(createWorkload(kind, created, `app-${kind.plural}`));
    await testCluster.merge(deployment, optedOut, 'app', { metadata: { labels: { [labels.autoTrace]: 'false' } } });
    const operations = [{ op: 'replace' as const, path: '/spec/template', value }];
    await testCluster.client.patch({ ...deployment, namespace: rolledBack, name: 'app' }, { kind: 'json', operations });
    expect(await testCluster.isInstrumented(deployment, optedOut, 'app')).toBe(true);
    expect(await testCluster.isInstrumented(deployment, rolledBack, 'app')).toBe(false);
    await operator.startManager();
  });

  it('creates workloads, which are instrumented once it is back [D12, D30]', async () => {
    for (const [, kind] of mutableKinds) await testCluster.waitForInstrumented(kind, created, `app-${kind.plural}`);
    await testCluster.waitForInstrumented(deployment, alone, 'app');
    await eventually(async () =>
      expect(await operator.metric('lumigo_operator_missed_injections_total')).toBe(mutableKinds.length + 1),
    );
  });

  it('opts out, which takes effect once it is back', () =>
    testCluster.waitForInstrumented(deployment, optedOut, 'app', false));

  it('rolls back to a template without the injection, which is injected again', () =>
    testCluster.waitForInstrumented(deployment, rolledBack, 'app'));
});

/** A tool's apply removes fields that it no longer names, unless another manager such as the reconciler owns them. */
const applied = (manifest: Manifest) => apply(operator.cluster.client, manifest, 'a-tool');

const container = (name: string, preload?: string) => ({
  name,
  image: 'app:1',
  env: preload === undefined ? [] : [{ name: 'LD_PRELOAD', value: preload }],
});

describe.each(['reconciler', 'webhook'])('a tool that applies a workload instrumented by the %s', (who) => {
  /** Applies before the webhook is registered, or after. */
  const first = (manifest: Manifest) =>
    who === 'webhook' ? applied(manifest) : operator.withoutWebhook(() => applied(manifest));

  it('can remove a variable that the injection has extended, and a container', async () => {
    const namespace = await testCluster.namespace('gitops');
    await testCluster.activate(namespace);
    const shop = (...containers: readonly object[]) =>
      createWorkload(deployment, namespace, 'shop', { pod: { containers } });
    const containers = async () => (await testCluster.toTemplate(deployment, namespace, 'shop')).spec.containers;
    await first(shop(container('app', '/own.so'), container('sidecar')));
    await testCluster.waitForInstrumented(deployment, namespace, 'shop');
    await applied(shop(container('app'), container('sidecar')));
    expect((await containers()).map(({ env }) => env?.find(({ name }) => name === 'LD_PRELOAD')?.value)).toEqual([
      injector.preload,
      injector.preload,
    ]);
    await applied(shop(container('renamed')));
    expect((await containers()).map(({ name }) => name)).toEqual(['renamed']);
  });

  it('can end an opt-in by the label', async () => {
    const namespace = await testCluster.namespace('lone');
    await testCluster.secret(namespace);
    const own = (value: string) =>
      createWorkload(deployment, namespace, 'lone', {
        labels: { [labels.autoTrace]: value },
        pod: { containers: [container('app')] },
      });
    await first(own('true'));
    await testCluster.waitForInstrumented(deployment, namespace, 'lone');
    await applied(own('false'));
    await eventually(async () => expect(await testCluster.label(deployment, namespace, 'lone')).toBe('false'));
    await testCluster.waitForInstrumented(deployment, namespace, 'lone', false);
  });
});

describe('an opt-in that a tool no longer names', () => {
  it('ends if the tool has set the label last, and stays if the reconciler has', async () => {
    const namespace = await testCluster.namespace('lone');
    await testCluster.secret(namespace);
    const own = (name: string, value?: string) =>
      createWorkload(deployment, namespace, name, {
        labels: value === undefined ? {} : { [labels.autoTrace]: value },
        pod: { containers: [container('app')] },
      });
    await operator.withoutWebhook(async () => {
      await applied(own('kept', 'true'));
      await applied(own('set-again', 'true'));
      await testCluster.waitForInstrumented(deployment, namespace, 'kept');
      await testCluster.waitForInstrumented(deployment, namespace, 'set-again');
    });
    await applied(own('set-again', 'true'));
    await applied(own('set-again'));
    await applied(own('kept'));
    await testCluster.waitForInstrumented(deployment, namespace, 'set-again', false);
    expect(await testCluster.isInstrumented(deployment, namespace, 'kept')).toBe(true);
  });
});

describe('a second Lumigo', () => {
  it('is refused on creation, also under the name of the first [D16]', async () => {
    const shop = await traced('shop');
    await expect(testCluster.lumigo(shop, {}, 'second')).rejects.toThrow(
      `There is already a Lumigo resource in the '${shop}' namespace: 'lumigo'`,
    );
    await expect(testCluster.lumigo(shop)).rejects.toMatchObject({ reason: 'AlreadyExists' });
  });

  it('is accepted while the first is being deleted, and keeps existing injections [F29]', async () => {
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
});

const getWarnings = async (manifest: Manifest) =>
  (await testCluster.client.create(getCollection(manifest), manifest)).warnings.join('\n');

describe('no write of a user is refused because of the injection [F22]', () => {
  it('if the object is too large for a decision, which an event reports [F20]', async () => {
    const shop = await traced('shop');
    const env = Array.from({ length: 6_000 }, (_, index) => ({ name: `e${index}` }));
    expect(await getWarnings(createWorkload(deployment, shop, 'large', { env }))).toContain('size limit');
    expect(await testCluster.isInstrumented(deployment, shop, 'large')).toBe(false);
    await eventually(async () => {
      const events = await testCluster.events(shop, 'large');
      expect(events.map(({ reason }) => reason)).toEqual(['LumigoCannotAddInstrumentation']);
      expect(events[0]?.message).toContain('size limit');
      const { status } = await testCluster.readLumigo(shop);
      const active = status?.conditions?.find(({ type }) => type === 'Active');
      expect(active?.message).toContain('. 1 workload exceeds the size limit');
    });
  });

  it('if a tool writes over the injection and its record while both stay', async () => {
    const namespace = await testCluster.namespace('stays');
    await testCluster.activate(namespace, { tracing: { injection: { removeLumigoFromResourcesOnDeletion: false } } });
    await testCluster.waitForWebhook(namespace);
    const own = { name: environment.token, value: 'own' };
    await testCluster.create(createWorkload(deployment, namespace, 'app', { env: [own] }));
    await testCluster.deleteLumigo(namespace);
    const before = await testCluster.get(deployment, namespace, 'app');
    const { spec } = await testCluster.toTemplate(deployment, namespace, 'app');
    const containers = spec.containers.map(({ env = [], ...rest }) => {
      const merged = env.map((each) => (each.name === own.name ? { ...each, ...own } : each));
      return { ...rest, image: 'app:2', env: merged };
    });
    const note = { [annotations.instrumentation]: null };
    const template = { spec: { containers } };
    await testCluster.merge(deployment, namespace, 'app', { metadata: { annotations: note }, spec: { template } });
    const after = await testCluster.get(deployment, namespace, 'app');
    expect(after['spec']).toEqual(JSON.parse(JSON.stringify(before['spec']).replace('app:1', 'app:2')));
    expect(after.metadata.annotations).toEqual(before.metadata.annotations);
  });

  it('if a record is forged, which does not prevent the removal of the injection [F29]', async () => {
    const shop = await traced('shop');
    await testCluster.create(createWorkload(deployment, shop, 'forged'));
    const { metadata } = await testCluster.toTemplate(deployment, shop, 'forged');
    const name = 'operator.lumigo.io/injection';
    const record = JSON.parse(metadata?.annotations?.[name] ?? '{}') as object;
    for (const mount of [{ mountPath: '/opt/lumigo' }, { name: 'gone', mountPath: '/opt/lumigo' }]) {
      const text = JSON.stringify({ ...record, label: '- -', kept: { app: { mount } } });
      const template = { metadata: { annotations: { [name]: text } } };
      await operator.withoutWebhook(() => testCluster.merge(deployment, shop, 'forged', { spec: { template } }));
    }
    await testCluster.deleteLumigo(shop);
    expect(await testCluster.isInstrumented(deployment, shop, 'forged')).toBe(false);
    const { spec } = await testCluster.toTemplate(deployment, shop, 'forged');
    expect(JSON.stringify(spec)).not.toMatch(/lumigo|gone/);
  });
});
