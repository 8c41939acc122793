import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdirSync, readFileSync, rmdirSync, statSync } from 'node:fs';
import { operatorVersion } from '../../infra/settings/version.ts';
import { workloadKinds } from '../contract.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { collectedKinds } from './render-collection.ts';
import { countSpans, post, spanId } from '../../sandbox/otlp-sink/sender.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { getEvent, startTelemetry, getToken, type TelemetryBench } from '../../sandbox/testing/telemetry.ts';
import { everyKind, getPod, createWorkload } from '../../sandbox/testing/workloads.ts';
import { toFile } from './types.ts';

let telemetry: TelemetryBench;
let namespace = '';
let notCollected = '';
/** In each of these, the collection ends in another way. */
let ending: readonly string[] = [];

const off = { infrastructure: { enabled: false }, tracing: { injection: { enabled: false } } };
const { deployment } = workloadKinds;

beforeAll(async () => {
  telemetry = await startTelemetry({ controllerManager: false, config: { logLevel: 'debug' } });
  const { activate, waitForCollecting } = telemetry;
  namespace = await activate('kinds', getToken(1));
  notCollected = await activate('still', getToken(2), off);
  ending = await Promise.all(['switched-off', 'deleted', 'invalid'].map((name) => activate(name, getToken(4))));
  for (const each of [namespace, ...ending]) await waitForCollecting(each);
});
afterAll(() => telemetry?.stop());

const getArrived = (namespace: string) => telemetry.sink.objects.filter((object) => object.namespace === namespace);

const isArrived = (namespace: string, event: string): boolean =>
  getArrived(namespace).some(({ resource, object }) => resource === 'events' && object.metadata.name === event);

const getTokens = (namespace: string) => new Set(getArrived(namespace).map(({ received }) => received.authorization));

/** Creates an event in all of these namespaces. Resolves when it arrives from the one that is collected. */
async function createEvents(name: string, namespaces: readonly string[]): Promise<void> {
  for (const each of [...namespaces, namespace]) await telemetry.testCluster.create(getEvent(each, name));
  await eventually(() => expect(isArrived(namespace, name)).toBe(true));
}

describe('Kubernetes events and object versions', () => {
  it("cover all eight kinds, from creation to deletion, with their namespace's token", async () => {
    const { testCluster } = telemetry;
    const collected = [
      ...everyKind.map(([, kind]) => ({ ref: kind, object: createWorkload(kind, namespace, 'app') })),
      { ref: { group: '', version: 'v1', plural: 'pods' }, object: getPod(namespace, 'app') },
      { ref: { group: '', version: 'v1', plural: 'events' }, object: getEvent(namespace, 'app') },
    ];
    for (const { object } of collected) await testCluster.create(object);
    for (const { ref } of collected) {
      const at = { ...ref, namespace, name: 'app' };
      await testCluster.client.patch(at, { kind: 'merge', body: { metadata: { annotations: { changed: 'yes' } } } });
      await testCluster.client.delete(at, { propagationPolicy: 'Background' });
    }
    for (const { ref } of collected)
      await eventually(() => {
        const seen = getArrived(namespace).filter(({ resource }) => resource === ref.plural);
        const changes = new Set(seen.map(({ change }) => change));
        expect([ref.plural, ...changes]).toEqual(expect.arrayContaining([ref.plural, 'ADDED', 'MODIFIED', 'DELETED']));
      });
    expect(getTokens(namespace)).toEqual(new Set([`LumigoToken ${getToken(1)}`]));
    expect(collected.map(({ ref }) => ref.plural).sort()).toEqual(collectedKinds.map(({ plural }) => plural).sort());
  });

  it('name their kind and their origin', async () => {
    const { uid } = (await telemetry.cluster.client.get({ ...kinds.namespaces, name: 'kube-system' })).metadata;
    await eventually(() => {
      const [event] = getArrived(namespace).filter(({ resource }) => resource === 'events');
      const [object] = getArrived(namespace).filter(({ resource }) => resource === 'deployments');
      expect(event?.received.scope).toBe('lumigo-operator.k8s-events');
      expect(object?.received.scope).toBe('lumigo-operator.k8s-objects');
      expect(object?.received.resource).toEqual({
        'k8s.namespace.name': namespace,
        'k8s.cluster.uid': uid,
        'lumigo.k8s_operator.version': operatorVersion(),
        'lumigo.k8s_operator.deployment_method': 'Manifests',
      });
      expect(object?.object.metadata).not.toHaveProperty('managedFields');
    });
  });

  it('are sent with a heartbeat, which is the Lumigo itself [F56]', async () => {
    const beats = (of: string) => getArrived(of).filter(({ resource }) => resource === 'lumigoes');
    await eventually(() => expect(beats(namespace).length).toBeGreaterThan(0));
    for (const { received, object } of beats(namespace)) {
      expect(received.scope).toBe('lumigo-operator.namespace_heartbeat');
      expect(received.authorization).toBe(`LumigoToken ${getToken(1)}`);
      expect(object.metadata).toMatchObject({ namespace, name: 'lumigo' });
    }
    expect(beats(notCollected)).toEqual([]);
  });

  it("include once what existed before, so that each event finds its object's versions [D36]", async () => {
    const { testCluster, activate, waitForCollecting } = telemetry;
    const namespace = await activate('before', getToken(3), off);
    await testCluster.create(createWorkload(deployment, namespace, 'old'));
    const before = await testCluster.get(deployment, namespace, 'old');
    await testCluster.changeLumigo(namespace, { spec: { infrastructure: { enabled: true } } });
    await waitForCollecting(namespace);
    // The collector lists existing objects one kind after the other.
    await eventually(() => expect(getArrived(namespace).map(({ resource }) => resource)).toContain('deployments'));
    await testCluster.merge(deployment, namespace, 'old', { metadata: { annotations: { version: 'two' } } });
    const after = await testCluster.get(deployment, namespace, 'old');
    const about = ({ uid, resourceVersion }: typeof before.metadata) => ({ uid, resourceVersion, kind: 'Deployment' });
    for (const { metadata } of [before, after])
      await testCluster.create(getEvent(namespace, `about-${metadata.resourceVersion}`, about(metadata)));
    await eventually(() => {
      const sent = new Set(getArrived(namespace).map(({ object }) => object.metadata.resourceVersion));
      const events = getArrived(namespace).filter(({ object }) => object.involvedObject?.kind === 'Deployment');
      expect(events.length).toBe(2);
      for (const { object } of events) expect(sent).toContain(object.involvedObject?.resourceVersion);
    });
    const versions = getArrived(namespace).filter(({ resource }) => resource === 'deployments');
    expect(versions.map(({ object }) => object.metadata.resourceVersion)).toEqual([
      before.metadata.resourceVersion,
      after.metadata.resourceVersion,
    ]);
  });

  it('end when kubeEvents is switched off, the Lumigo is deleted, or its token becomes invalid [D39]', async () => {
    const { testCluster } = telemetry;
    const [switchedOff = '', deleted = '', invalid = ''] = ending;
    await testCluster.changeLumigo(switchedOff, { spec: { infrastructure: { kubeEvents: { enabled: false } } } });
    await testCluster.deleteLumigo(deleted);
    await testCluster.secret(invalid, 'no token');
    let attempt = 0;
    await eventually(
      async () => {
        const name = `end-${(attempt += 1)}`;
        await createEvents(name, ending);
        // An exporter sends what it gathered before this one arrives.
        await createEvents(`witness-${attempt}`, []);
        expect(ending.filter((each) => isArrived(each, name))).toEqual([]);
      },
      // A Secret is read every 15 s, and then a reload may be due.
      { timeoutMs: 60_000 },
    );
  });

  it('continue when a duplicate Lumigo is deleted [D15]', async () => {
    const { testCluster, waitForSettled } = telemetry;
    const reloads = await waitForSettled();
    await telemetry.withoutWebhook(() => testCluster.lumigo(namespace, {}, 'second'));
    await testCluster.deleteLumigo(namespace, 'second');
    expect(await waitForSettled()).toBe(reloads);
    await createEvents('after-a-duplicate', []);
  });
});

describe('the stored data', () => {
  it('has tokens only in files that no other user can read, and never in a log [D31, D34]', async () => {
    const { collector, manager } = telemetry;
    const { telemetryProxyDirectory, logFile, url } = collector();
    const send = (id: string) =>
      post(`${url}/v1/traces`, countSpans({ 'service.name': 'looked-at' }, [id]), { token: getToken(1) });
    await eventually(async () => expect((await send(spanId(0x8000))).status).toBe(200));
    await eventually(() => expect(readFileSync(logFile, 'utf8')).toContain('looked-at'));
    for (const file of ['tokens', 'configuration'] as const)
      expect((statSync(toFile({ telemetryProxyDirectory }, file)).mode & 0o777).toString(8)).toBe('600');
    // At debug level the collector writes what its processors see.
    for (const log of [logFile, manager().logFile]) expect(readFileSync(log, 'utf8')).not.toMatch(/t_[0-9a-f]{21}/);
  });

  it('leads to one warning while it cannot be written, and is complete afterwards', async () => {
    const { activate, collector, manager, waitForCollecting } = telemetry;
    // The manager writes to this name first.
    const blocked = `${toFile(collector(), 'tokens')}.${manager().pid}`;
    mkdirSync(blocked);
    const another = await activate('blocked', getToken(5));
    const levels = () => {
      const lines = readFileSync(manager().logFile, 'utf8').split('\n');
      const failures = lines.filter((line) => line.includes('cannot reconcile the telemetry proxy'));
      return failures.map((line) => (JSON.parse(line) as { level: string }).level);
    };
    await eventually(() => expect(levels().slice(0, 3)).toEqual(['warn', 'debug', 'debug']));
    rmdirSync(blocked);
    await waitForCollecting(another);
  });

  it('has no token for a new collector, which starts without delay [D34]', async () => {
    // The process changes during a reload.
    await eventually(() => {
      const text = readFileSync(toFile(telemetry.collector(), 'configuration'), 'utf8');
      expect(/t_[0-9a-f]{21}|k8sobjects|wait_for_metadata/.exec(text)).toBeNull();
    });
  });

  it('lets a collector continue soon after it crashed [D33]', async () => {
    const { collector } = telemetry;
    const restarts = collector().restarts();
    process.kill(collector().pid(), 'SIGKILL');
    await eventually(() => expect(collector().restarts()).toBe(restarts + 1));
    const before = getArrived(namespace).length;
    await eventually(
      async () => {
        await telemetry.testCluster.create(getEvent(namespace, `again-${Date.now()}`));
        expect(getArrived(namespace).length).toBeGreaterThan(before);
      },
      { intervalMs: 100, timeoutMs: 60_000 },
    );
  });
});
