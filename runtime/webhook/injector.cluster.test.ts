import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { labels, lumigo as contract, workloadKinds } from '../contract.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { everyKind, mutableKinds, workloadOf } from '../../sandbox/testing/workloads.ts';

let operator: OperatorBench;
let shop: string;
beforeAll(async () => {
  operator = await startOperator({ controllerManager: false });
  shop = await operator.bench.namespace('shop');
  await operator.bench.activate(shop);
});
afterAll(() => operator?.stop());

const { deployment } = workloadKinds;
const optOut = { [labels.autoTrace]: 'false' };

describe('a workload that is created after the Lumigo', () => {
  it.each(everyKind)('a %s is stored instrumented, with one event [D1]', async (_name, kind) => {
    const { bench } = operator;
    const name = `new-${kind.plural}`;
    await bench.create(workloadOf(kind, shop, name));
    expect(await bench.isInstrumented(kind, shop, name)).toBe(true);
    expect(await bench.label(kind, shop, name)).toMatch(/^lumigo-operator\.v/);
    await eventually(async () => {
      const events = await bench.events(shop, name);
      expect(events.map(({ reason }) => reason)).toEqual(['LumigoAddedInstrumentation']);
      expect(events[0]?.message).toContain('injector webhook');
      expect(events[0]?.involvedObject.uid).toBe((await bench.get(kind, shop, name)).metadata.uid);
    });
  });

  it('is in the log at its default level if it is opted out, once for each change [F53]', async () => {
    const { bench } = operator;
    // No controller writes a CronJob meanwhile, so no conflict makes the API server repeat the review.
    const kind = workloadKinds.cronJob;
    const name = 'told';
    const lines = () =>
      readFileSync(operator.manager().logFile, 'utf8')
        .split('\n')
        .filter((line) => line.includes(`${kind.kind} ${shop}/${name}`));
    const manifest = workloadOf(kind, shop, name, { labels: optOut });
    await bench.client.create({ ...kind, namespace: shop }, manifest, { dryRun: true });
    await bench.create(manifest);
    await bench.merge(kind, shop, name, { metadata: { annotations: { note: 'x' } }, spec: { suspend: true } });
    await eventually(() => expect(lines()).toHaveLength(1));
    expect(JSON.parse(lines()[0] ?? '')).toMatchObject({
      level: 'info',
      allowed: true,
      reason: "the resource has the 'lumigo.auto-trace' label set to 'false'; resource will not be mutated",
    });
    const template = { metadata: { annotations: { note: 'x' } } };
    await bench.merge(kind, shop, name, { spec: { jobTemplate: { spec: { template } } } });
    await eventually(() => expect(lines()).toHaveLength(2));
  });

  it.each(mutableKinds)(
    'an opt-out of a %s removes the injection, and an opt-in injects again [D19]',
    async (_name, kind) => {
      const { bench } = operator;
      const name = `toggled-${kind.plural}`;
      const outside = await bench.namespace('outside');
      await bench.create(workloadOf(kind, outside, name));
      await bench.create(workloadOf(kind, shop, name));
      const told = async (reason: string) =>
        eventually(async () => expect((await bench.events(shop, name)).map((event) => event.reason)).toContain(reason));
      await told('LumigoAddedInstrumentation');
      await bench.merge(kind, shop, name, { metadata: { labels: { [labels.autoTrace]: 'FALSE' } } });
      expect(await bench.templateOf(kind, shop, name)).toEqual(await bench.templateOf(kind, outside, name));
      expect(await bench.label(kind, shop, name)).toBe('FALSE');
      // The reconciler may miss a state of a few milliseconds, so the test waits for the event.
      await told('LumigoRemovedInstrumentation');
      await bench.merge(kind, shop, name, { metadata: { labels: { [labels.autoTrace]: null } } });
      expect(await bench.isInstrumented(kind, shop, name)).toBe(true);
      await eventually(async () => {
        const reasons = (await bench.events(shop, name)).map(({ reason }) => reason).sort();
        expect(reasons).toEqual([
          'LumigoAddedInstrumentation',
          'LumigoAddedInstrumentation',
          'LumigoRemovedInstrumentation',
        ]);
      });
    },
  );

  it('a dry run is answered like any other request, without an event [D24]', async () => {
    const { bench } = operator;
    const manifest = workloadOf(deployment, shop, 'dry');
    const { object } = await bench.client.create({ ...deployment, namespace: shop }, manifest, { dryRun: true });
    expect(JSON.stringify(object)).toContain('lumigo-injector');
    expect(await bench.events(shop, 'dry')).toEqual([]);
  });
});

describe('an update', () => {
  it('changes nothing of ours and makes no event if the template stays [D17, D24]', async () => {
    const { bench } = operator;
    await bench.create(workloadOf(deployment, shop, 'annotated'));
    const before = await bench.templateOf(deployment, shop, 'annotated');
    await bench.merge(deployment, shop, 'annotated', {
      metadata: { annotations: { note: 'x' } },
      spec: { paused: true },
    });
    expect(await bench.templateOf(deployment, shop, 'annotated')).toEqual(before);
    await eventually(async () => expect(await bench.events(shop, 'annotated')).toHaveLength(1));
  });

  it('does not change a Job [D3]', async () => {
    const { bench } = operator;
    const { job } = workloadKinds;
    const early = await bench.namespace('early');
    await bench.create(workloadOf(job, early, 'old'));
    await bench.activate(early);
    await bench.merge(job, early, 'old', { metadata: { labels: { touched: 'yes' } } });
    expect(await bench.isInstrumented(job, early, 'old')).toBe(false);
    await bench.whenWebhookInjects(early);
    await bench.create(workloadOf(job, early, 'new'));
    await bench.merge(job, early, 'new', { metadata: { labels: { touched: 'yes' } } });
    expect(await bench.isInstrumented(job, early, 'new')).toBe(true);
  });

  it('keeps fields that no client library needs to know [D2]', async () => {
    const { bench } = operator;
    const sidecar = { name: 'sidecar', image: 'proxy:1', restartPolicy: 'Always' };
    await bench.create(workloadOf(deployment, shop, 'modern', { pod: { initContainers: [sidecar] } }));
    const { spec } = await bench.templateOf(deployment, shop, 'modern');
    expect(spec.initContainers?.[0]).toMatchObject(sidecar);
    expect(spec.initContainers?.[1]?.name).toBe('lumigo-injector');
  });
});

describe('a workload of a namespace without a Lumigo', () => {
  it('is not changed, and neither is one in kube-system [D47]', async () => {
    const { bench } = operator;
    const elsewhere = await bench.namespace('elsewhere');
    for (const namespace of [elsewhere, 'kube-system']) {
      await bench.create(workloadOf(deployment, namespace, 'plain'));
      expect(await bench.isInstrumented(deployment, namespace, 'plain')).toBe(false);
    }
  });

  it('opts in by its labels', async () => {
    const { bench } = operator;
    const alone = await bench.namespace('alone');
    const own = { [labels.autoTrace]: 'true', [labels.tokenSecret]: 'mine', [labels.enableLogs]: 'true' };
    await bench.create(workloadOf(deployment, alone, 'opted-in', { labels: own }));
    const { spec } = await bench.templateOf(deployment, alone, 'opted-in');
    const env = new Map(spec.containers[0]?.env?.map((variable) => [variable.name, variable]));
    expect(env.get('LUMIGO_TRACER_TOKEN')?.valueFrom).toEqual({
      secretKeyRef: { name: 'mine', key: 'token', optional: true },
    });
    expect(env.get('LUMIGO_ENABLE_LOGS')?.value).toBe('true');
    await bench.merge(deployment, alone, 'opted-in', { metadata: { labels: { [labels.autoTrace]: 'false' } } });
    expect(await bench.isInstrumented(deployment, alone, 'opted-in')).toBe(false);
  });
});

describe('a second Lumigo', () => {
  it('is refused on creation, with the name of the first [D16]', async () => {
    await expect(operator.bench.lumigo(shop, {}, 'second')).rejects.toThrow(
      `There is already a Lumigo resource in the '${shop}' namespace: 'lumigo'`,
    );
  });

  it('is accepted while the first is being deleted, and keeps existing injections [F29]', async () => {
    const { bench, cluster, refuseChanges } = operator;
    const namespace = await bench.namespace('succeeded');
    await bench.activate(namespace);
    await bench.create(workloadOf(deployment, namespace, 'app', { labels: { held: 'yes' } }));
    const relent = await refuseChanges(namespace, { held: 'yes' });
    const { uid } = (await bench.readLumigo(namespace)).metadata;
    await cluster.client.delete({ ...contract, namespace, name: 'lumigo' });
    expect((await bench.readLumigo(namespace)).metadata.deletionTimestamp).toBeDefined();
    await bench.lumigo(namespace, {}, 'second');
    await eventually(async () => {
      const { status } = await bench.readLumigo(namespace, 'second');
      expect(status?.conditions?.find(({ type }) => type === 'Active')).toMatchObject({ status: 'True' });
      await expect(bench.readLumigo(namespace)).rejects.toThrow('not found');
    });
    await relent();
    expect(await bench.isInstrumented(deployment, namespace, 'app')).toBe(true);
    expect((await bench.readLumigo(namespace, 'second')).metadata.uid).not.toBe(uid);
  });
});
