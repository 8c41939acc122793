import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { annotations, labels, lumigo as contract, workloadKinds } from '../contract.ts';
import { permissions } from '../access/permissions.ts';
import { OtlpSink } from '../../sandbox/otlp-sink/sink.ts';
import { operatorRequests } from '../../sandbox/testing/audit.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { createWorkload, mutableKinds } from '../../sandbox/testing/workloads.ts';
import { toRef } from '../../sandbox/manager/apply.ts';
import type { Manifest } from '../kubernetes/resources/objects.ts';

/** With two workloads of a namespace at once, each for six seconds, bulk changes are visible. */
const settings = { rollout: { strategy: 'immediate', concurrent: 4, concurrentPerNamespace: 2, settleSeconds: 6 } };

let sink: OtlpSink;
let operator: OperatorBench;
let testCluster: OperatorBench['testCluster'];
beforeAll(async () => {
  // Without an answer about its token, the status of a Lumigo changes once more after 30 s.
  sink = await OtlpSink.start();
  operator = await startOperator({ settings, audit: true, controllerManager: false, config: { endpoint: sink.url } });
  ({ testCluster } = operator);
});
afterAll(async () => {
  await operator?.stop();
  await sink?.close();
});

const { deployment } = workloadKinds;

const ownRequests = () => operatorRequests(operator.cluster, operator.installation);

describe('bulk changes', () => {
  it('have the pace of the settings, show their progress, and delay no other namespace [D28]', async () => {
    const namespace = await testCluster.namespace('paced');
    const names = Array.from({ length: 6 }, (_, index) => `app-${index}`);
    await Promise.all(names.map((name) => testCluster.create(createWorkload(deployment, namespace, name))));
    const instrumented = async () =>
      (await Promise.all(names.map((name) => testCluster.isInstrumented(deployment, namespace, name)))).filter(Boolean)
        .length;
    const other = await testCluster.namespace('unpaced');
    await testCluster.create(createWorkload(deployment, other, 'app'));
    const addedAt = async (of: string, name: string): Promise<string> => {
      const { annotations: own = {} } = (await testCluster.get(deployment, of, name)).metadata;
      return /^added (\S+) /.exec(own[annotations.instrumentation] ?? '')?.[1] ?? '';
    };
    const started = Date.now();
    await Promise.all([namespace, other].map((each) => testCluster.activate(each)));
    await eventually(async () => {
      const active = (await testCluster.readLumigo(namespace)).status?.conditions?.find(
        ({ type }) => type === 'Active',
      );
      expect(active?.message).toMatch(/^Lumigo is ready\. \d workloads? waits? for a change$/);
    });
    await testCluster.waitForInstrumented(deployment, other, 'app');
    await eventually(async () => expect(await instrumented()).toBe(6), { timeoutMs: 60_000 });
    const times = await Promise.all(names.map((name) => addedAt(namespace, name)));
    expect(times.filter((time) => time > '2')).toHaveLength(6);
    const otherTime = await addedAt(other, 'app');
    expect(otherTime > '2' && times.some((time) => time > otherTime)).toBe(true);
    // Six workloads are changed in pairs: the third pair may begin after twelve seconds.
    expect(Date.now() - started).toBeGreaterThan(11_900);
  });
});

describe('towards the API server', () => {
  it('an idle operator sends almost no requests and writes only its Lease [D20, D21]', async () => {
    const namespace = await testCluster.instrumented('idle');
    await eventually(async () =>
      expect((await testCluster.readLumigo(namespace)).status?.instrumentedResourcesCount).toBe(1),
    );
    await testCluster.waitForCondition(namespace, 'Ready', { status: 'True' });
    // Two status intervals are enough for the effects of the last change.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    const before = ownRequests().length;
    await new Promise((resolve) => setTimeout(resolve, 10_000));
    const sent = ownRequests().slice(before);
    const of = (resource: string) => sent.filter(({ objectRef }) => objectRef?.resource === resource).length;
    // A Secret is not watched, so it can only be read again (credentials/plan-reading.ts).
    const probes = sent.filter(({ requestURI = '' }) => requestURI.includes('dryRun=All')).length;
    expect([sent.length - of('leases') - of('secrets') - probes, probes <= 1]).toEqual([0, true]);
    expect(of('leases')).toBeLessThanOrEqual(3);
    const looks = sent.flatMap(({ objectRef }) => (objectRef?.resource === 'secrets' ? [objectRef.namespace] : []));
    expect(looks).toEqual([...new Set(looks)]);
  });

  it('it reads the one Secret that a Lumigo names, and never lists or watches Secrets [D22]', () => {
    const secrets = ownRequests().filter(({ objectRef }) => objectRef?.resource === 'secrets');
    expect(secrets.length).toBeGreaterThan(0);
    expect(new Set(secrets.map(({ verb }) => verb))).toEqual(new Set(['get']));
    expect(new Set(secrets.map(({ objectRef }) => objectRef?.name))).toEqual(new Set(['lumigo-credentials']));
    expect(
      permissions.cluster.find(({ resources }) => (resources as readonly string[]).includes('secrets'))?.verbs,
    ).toEqual(['get']);
  });

  it('its events need no verb but create, in any namespace [D25]', () => {
    const events = ownRequests().filter(({ objectRef }) => objectRef?.resource === 'events');
    expect(new Set(events.map(({ verb }) => verb))).toEqual(new Set(['create']));
  });

  it('it backs off if another writer removes only its annotation', async () => {
    const namespace = await testCluster.instrumented('annotated');
    const without = { metadata: { annotations: { [annotations.instrumentation]: null } } };
    for (const end = Date.now() + 4_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 100)))
      await testCluster.merge(deployment, namespace, 'app', without);
    const writes = ownRequests().filter(
      ({ verb, objectRef, responseStatus }) =>
        verb === 'patch' &&
        responseStatus?.code === 200 &&
        objectRef?.namespace === namespace &&
        objectRef.name === 'app',
    );
    expect(writes.length).toBeGreaterThan(0);
    expect(writes.length).toBeLessThanOrEqual(3);
    await eventually(async () =>
      expect(await testCluster.reasons(namespace, 'app')).toContain('LumigoInstrumentationContested'),
    );
  });

  it('it stops with a deleted Lumigo: no write after the finalizer, and no error [D27]', async () => {
    const namespace = await testCluster.namespace('done');
    await testCluster.activate(namespace);
    await testCluster.deleteLumigo(namespace);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const writes = ownRequests().filter(
      ({ verb, objectRef }) =>
        objectRef?.resource === contract.plural && objectRef.namespace === namespace && verb === 'patch',
    );
    expect(writes.at(-1)?.objectRef?.subresource).toBeUndefined();
    const log = readFileSync(operator.manager().logFile, 'utf8');
    expect(log.split('\n').filter((line) => line.includes('"level":"error"'))).toEqual([]);
    expect(log).not.toContain('namespace not reconciled');
  });
});

describe('towards a tool that applies server-side without force', () => {
  const apply = (body: Manifest) =>
    operator.cluster.client.patch(toRef(body), { kind: 'apply', body }, { fieldManager: 'helm' });
  const preloading = (value: string) => ({ env: [{ name: 'LD_PRELOAD', value }] });

  it.each(mutableKinds)('the operator takes no field of a %s', async (_name, kind) => {
    const namespace = await testCluster.namespace('applied');
    const made = (preload: string) => createWorkload(kind, namespace, 'app', preloading(preload));
    await apply(made('/own.so'));
    await testCluster.activate(namespace);
    await testCluster.waitForInstrumented(kind, namespace, 'app');
    const before = await testCluster.get(kind, namespace, 'app');
    expect(JSON.stringify(before)).toContain('/own.so:/opt/lumigo');
    await eventually(() => apply(made('/own.so')));
    const after = await testCluster.get(kind, namespace, 'app');
    expect([after['spec'], after.metadata.generation]).toEqual([before['spec'], before.metadata.generation]);
    await testCluster.deleteLumigo(namespace);
    await eventually(() => apply(made('/other.so')));
    expect(JSON.stringify(await testCluster.get(kind, namespace, 'app'))).not.toContain('/own.so');
  });

  it('an opt-out can be applied over the label of the operator', async () => {
    const namespace = await testCluster.namespace('opted');
    await apply(createWorkload(deployment, namespace, 'app'));
    await testCluster.activate(namespace);
    await testCluster.waitForInstrumented(deployment, namespace, 'app');
    const optOut = createWorkload(deployment, namespace, 'app', { labels: { [labels.autoTrace]: 'false' } });
    await eventually(() => apply(optOut));
    await testCluster.waitForInstrumented(deployment, namespace, 'app', false);
  });
});
