import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { annotations, environment, labels, lumigo as contract, workloadKinds } from '../contract.ts';
import type { Manifest } from '../kubernetes/resources/objects.ts';
import { getCollection } from '../../sandbox/manager/apply.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { everyKind, mutableKinds, createWorkload } from '../../sandbox/testing/workloads.ts';

let operator: OperatorBench;
let shop: string;
beforeAll(async () => {
  operator = await startOperator({ controllerManager: false });
  shop = await operator.testCluster.namespace('shop');
  await operator.testCluster.activate(shop);
  await operator.testCluster.waitForWebhook(shop);
});
afterAll(() => operator?.stop());

const { deployment } = workloadKinds;
const optOut = { [labels.autoTrace]: 'false' };

describe('a workload that is created after the Lumigo', () => {
  it.each(everyKind)('a %s is stored instrumented, with one event [D1]', async (_name, kind) => {
    const { testCluster } = operator;
    const name = `new-${kind.plural}`;
    await testCluster.create(createWorkload(kind, shop, name));
    expect(await testCluster.isInstrumented(kind, shop, name)).toBe(true);
    expect(await testCluster.label(kind, shop, name)).toMatch(/^lumigo-operator\.v/);
    await eventually(async () => {
      const events = await testCluster.events(shop, name);
      expect(events.map(({ reason }) => reason)).toEqual(['LumigoAddedInstrumentation']);
      expect(events[0]?.message).toContain('injector webhook');
      expect(events[0]?.involvedObject.uid).toBe((await testCluster.get(kind, shop, name)).metadata.uid);
    });
  });

  it('is in the log at its default level if it is opted out, once for each change [F53]', async () => {
    const { testCluster } = operator;
    // No controller writes a CronJob meanwhile, so no conflict makes the API server repeat the review.
    const kind = workloadKinds.cronJob;
    const name = 'told';
    const lines = () =>
      readFileSync(operator.manager().logFile, 'utf8')
        .split('\n')
        .filter((line) => line.includes(`${kind.kind} ${shop}/${name}`));
    const manifest = createWorkload(kind, shop, name, { labels: optOut });
    await testCluster.client.create({ ...kind, namespace: shop }, manifest, { dryRun: true });
    await testCluster.create(manifest);
    await testCluster.merge(kind, shop, name, { metadata: { annotations: { note: 'x' } }, spec: { suspend: true } });
    await eventually(() => expect(lines()).toHaveLength(1));
    expect(JSON.parse(lines()[0] ?? '')).toMatchObject({
      level: 'info',
      allowed: true,
      reason: "the resource has the 'lumigo.auto-trace' label set to 'false'; resource will not be mutated",
    });
    const template = { metadata: { annotations: { note: 'x' } } };
    await testCluster.merge(kind, shop, name, { spec: { jobTemplate: { spec: { template } } } });
    await eventually(() => expect(lines()).toHaveLength(2));
  });

  it.each(mutableKinds)(
    'an opt-out of a %s removes the injection, and an opt-in injects again [D19]',
    async (_name, kind) => {
      const { testCluster } = operator;
      const name = `toggled-${kind.plural}`;
      const outside = await testCluster.namespace('outside');
      await testCluster.create(createWorkload(kind, outside, name));
      await testCluster.create(createWorkload(kind, shop, name));
      const told = async (reason: string) =>
        eventually(async () => expect(await testCluster.reasons(shop, name)).toContain(reason));
      await told('LumigoAddedInstrumentation');
      await testCluster.merge(kind, shop, name, { metadata: { labels: { [labels.autoTrace]: 'FALSE' } } });
      expect(await testCluster.toTemplate(kind, shop, name)).toEqual(await testCluster.toTemplate(kind, outside, name));
      expect(await testCluster.label(kind, shop, name)).toBe('FALSE');
      // The reconciler may miss a state of a few milliseconds, so the test waits for the event.
      await told('LumigoRemovedInstrumentation');
      await testCluster.merge(kind, shop, name, { metadata: { labels: { [labels.autoTrace]: null } } });
      expect(await testCluster.isInstrumented(kind, shop, name)).toBe(true);
      await eventually(async () => {
        const reasons = await testCluster.reasons(shop, name);
        expect(reasons).toEqual([
          'LumigoAddedInstrumentation',
          'LumigoAddedInstrumentation',
          'LumigoRemovedInstrumentation',
        ]);
      });
    },
  );

  it('a dry run is answered like any other request, without an event [D24]', async () => {
    const { testCluster } = operator;
    const manifest = createWorkload(deployment, shop, 'dry');
    const { object } = await testCluster.client.create({ ...deployment, namespace: shop }, manifest, { dryRun: true });
    expect(JSON.stringify(object)).toContain('lumigo-injector');
    expect(await testCluster.events(shop, 'dry')).toEqual([]);
  });
});

describe('an update', () => {
  it('changes nothing of ours and makes no event if the template stays [D17, D24]', async () => {
    const { testCluster } = operator;
    await testCluster.create(createWorkload(deployment, shop, 'annotated'));
    const before = await testCluster.toTemplate(deployment, shop, 'annotated');
    await testCluster.merge(deployment, shop, 'annotated', {
      metadata: { annotations: { note: 'x' } },
      spec: { paused: true },
    });
    expect(await testCluster.toTemplate(deployment, shop, 'annotated')).toEqual(before);
    await eventually(async () => expect(await testCluster.events(shop, 'annotated')).toHaveLength(1));
  });

  it('does not change a Job [D3]', async () => {
    const { testCluster } = operator;
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

  it('keeps fields that no client library needs to know [D2]', async () => {
    const { testCluster } = operator;
    const sidecar = { name: 'sidecar', image: 'proxy:1', restartPolicy: 'Always' };
    await testCluster.create(createWorkload(deployment, shop, 'modern', { pod: { initContainers: [sidecar] } }));
    const { spec } = await testCluster.toTemplate(deployment, shop, 'modern');
    expect(spec.initContainers?.[0]).toMatchObject(sidecar);
    expect(spec.initContainers?.[1]?.name).toBe('lumigo-injector');
  });
});

describe('a workload of a namespace without a Lumigo', () => {
  it('is not changed, and neither is one in kube-system [D47]', async () => {
    const { testCluster } = operator;
    const elsewhere = await testCluster.namespace('elsewhere');
    for (const namespace of [elsewhere, 'kube-system']) {
      await testCluster.create(createWorkload(deployment, namespace, 'plain'));
      expect(await testCluster.isInstrumented(deployment, namespace, 'plain')).toBe(false);
    }
  });

  it('opts in by its labels', async () => {
    const { testCluster } = operator;
    const alone = await testCluster.namespace('alone');
    const own = { [labels.autoTrace]: 'true', [labels.tokenSecret]: 'mine', [labels.enableLogs]: 'true' };
    await testCluster.create(createWorkload(deployment, alone, 'opted-in', { labels: own }));
    const { spec } = await testCluster.toTemplate(deployment, alone, 'opted-in');
    const env = new Map(spec.containers[0]?.env?.map((variable) => [variable.name, variable]));
    expect(env.get('LUMIGO_TRACER_TOKEN')?.valueFrom).toEqual({
      secretKeyRef: { name: 'mine', key: 'token', optional: true },
    });
    expect(env.get('LUMIGO_ENABLE_LOGS')?.value).toBe('true');
    await testCluster.merge(deployment, alone, 'opted-in', { metadata: { labels: { [labels.autoTrace]: 'false' } } });
    expect(await testCluster.isInstrumented(deployment, alone, 'opted-in')).toBe(false);
  });
});

describe('a second Lumigo', () => {
  it('is refused on creation, with the name of the first [D16]', async () => {
    await expect(operator.testCluster.lumigo(shop, {}, 'second')).rejects.toThrow(
      `There is already a Lumigo resource in the '${shop}' namespace: 'lumigo'`,
    );
  });

  it('is accepted while the first is being deleted, and keeps existing injections [F29]', async () => {
    const { testCluster, cluster, refuseChanges } = operator;
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
    await eventually(async () => {
      const { status } = await testCluster.readLumigo(namespace, 'second');
      expect(status?.conditions?.find(({ type }) => type === 'Active')).toMatchObject({ status: 'True' });
      await expect(testCluster.readLumigo(namespace)).rejects.toThrow('not found');
    });
    await relent();
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(true);
    expect((await testCluster.readLumigo(namespace, 'second')).metadata.uid).not.toBe(uid);
  });
});

const podLabels = { [labels.autoTrace]: 'yes' };

/** Kustomize's commonLabels add a label to the object, its pods and, if the user sets it, its selector. */
function commonLabels(manifest: Manifest): Manifest {
  const made = manifest as unknown as { kind: string; metadata: { name: string }; spec: object };
  if (made.kind === 'CronJob') return manifest;
  const selector = { matchLabels: { app: made.metadata.name, ...podLabels } };
  const more = made.kind === 'Job' ? { manualSelector: true } : {};
  return { ...made, spec: { ...made.spec, selector, ...more } } as unknown as Manifest;
}

const getWarnings = async (manifest: Manifest) =>
  (await operator.testCluster.client.create(getCollection(manifest), manifest)).warnings.join('\n');

// The last test deletes the Lumigo.
describe('no write of a user is refused because of the injection [F22]', () => {
  it.each(everyKind)('if a %s selects its pods by our label', async (name, kind) => {
    const { testCluster } = operator;
    const manifest = createWorkload(kind, shop, `selects-${kind.plural}`, { labels: podLabels, podLabels });
    const warnings = await getWarnings(commonLabels(manifest));
    const hasSelector = name !== 'CronJob';
    expect(await testCluster.isInstrumented(kind, shop, manifest.metadata.name ?? '')).toBe(!hasSelector);
    if (hasSelector) expect(warnings).toContain('remove the label from the selector');
  });

  it.each(everyKind)('if the annotations of a %s are nearly full', async (_name, kind) => {
    const { testCluster } = operator;
    const made = createWorkload(kind, shop, `full-${kind.plural}`);
    const annotations = { note: 'x'.repeat(256 * 1024 - 10) };
    const warnings = await getWarnings({ ...made, metadata: { ...made.metadata, annotations } });
    expect(warnings).toContain('annotations would exceed');
    expect(await testCluster.isInstrumented(kind, shop, made.metadata.name ?? '')).toBe(false);
  });

  it('if the object is too large for a decision, which an event reports [F20]', async () => {
    const { testCluster } = operator;
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
    const { testCluster } = operator;
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
    const { testCluster } = operator;
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
