import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { issueAuthority } from '../certificates/issue.ts';
import { labels, suffixes, workloadKinds } from '../contract.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { toData } from '../kubernetes/resources/objects.ts';
import { runCommand } from '../../sandbox/manager/command.ts';
import type { Manager } from '../../sandbox/manager/manager.ts';
import { isAlive } from '../../sandbox/run.ts';
import { post, repeatAttributes, spanId, countSpans } from '../../sandbox/otlp-sink/sender.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { podAt } from '../../sandbox/testing/pod-at.ts';
import { getEvent, startTelemetry, getToken, type TelemetryBench } from '../../sandbox/testing/telemetry.ts';
import { createRunning, createWorkload } from '../../sandbox/testing/workloads.ts';
import { writeAccount } from './account.ts';

const { deployment } = workloadKinds;

let telemetry: TelemetryBench;
let second: Manager;
let shop = '';
let bank = '';
let onNode = '';
const uids: Record<string, string> = {};
beforeAll(async () => {
  telemetry = await startTelemetry({ controllerManager: false, config: { telemetryExpectedWithinSeconds: 2 } });
  second = await telemetry.startAnother();
  // A token that namespaces share proves nothing about the sender's namespace.
  shop = await telemetry.activate('shop', sharedToken);
  bank = await telemetry.activate('bank', sharedToken);
  await podAt(telemetry.testCluster, '127.0.0.1', { namespace: shop, app: 'cart' });
  onNode = await telemetry.activate('on-node', getToken(2));
  await podAt(telemetry.testCluster, '127.0.0.2', { namespace: bank, app: 'vault' });
  uids['guard'] = await podAt(telemetry.testCluster, undefined, { namespace: bank, app: 'guard' });
  uids['agent'] = await podAt(telemetry.testCluster, undefined, { namespace: onNode, app: 'agent' });
  await podAt(telemetry.testCluster, '127.0.0.3', { namespace: shop, app: 'late' });
});
afterAll(() => telemetry?.stop());

let counter = 0x2000;
interface Sent {
  readonly resource?: Readonly<Record<string, string>>;
  readonly span?: Readonly<Record<string, string>>;
  readonly to?: Manager;
  /** How many times each attribute is there. Default: once. */
  readonly times?: number;
  readonly token?: string;
}

/** A node's address, from which pods on the network of their node send. */
const NODE = '127.0.0.9';
const sharedToken = getToken(1);

/** Returns the page of counts after a span that was sent later than all others. A reload empties it. */
const countsWithCart = (): Promise<string> =>
  eventually(async () => {
    await send('127.0.0.1');
    const page = await (await fetch(`http://127.0.0.1:${telemetry.collector().telemetryCountsPort}/metrics`)).text();
    expect(page).toContain(`${shop}/Deployment/cart`);
    return page;
  });

/** Repeats like an SDK, until the proxy knows the token and the pod. */
async function send(address: string, { resource = {}, span = {}, times = 1, ...sent }: Sent = {}) {
  const { to = telemetry.manager(), token = sharedToken } = sent;
  const agent = new Agent({ localAddress: address });
  const id = spanId((counter += 1));
  await eventually(async () => {
    const body = repeatAttributes(countSpans(resource, [id], span), times);
    const { status } = await post(`${to.collector?.url}/v1/traces`, body, { token, agent });
    expect(status).toBe(200);
  });
  return id;
}

function waitForSpan(id: string) {
  const encoded = Buffer.from(id, 'hex').toString('base64');
  return eventually(() => {
    const span = telemetry.sink.spans.find(({ item }) => item.spanId === encoded);
    if (span === undefined) throw new Error('the span has not arrived');
    return span;
  });
}

const readTelemetry = async (namespace: string) => {
  const { status } = await telemetry.testCluster.readLumigo(namespace);
  return Object.fromEntries((status?.instrumentedResources ?? []).map((each) => [each.name, each]));
};

const waitForReceived = (namespace: string, name: string, sending: () => Promise<unknown>) =>
  eventually(
    async () => {
      await sending();
      expect((await readTelemetry(namespace))[name]).toMatchObject({ telemetry: 'Received' });
    },
    { timeoutMs: 30_000, intervalMs: 500 },
  );

const listed = async (): Promise<string[]> => {
  const { name, namespace } = telemetry.installation.settings;
  const ref = { ...kinds.configMaps, namespace, name: `${name}${suffixes.received}` };
  return Object.keys(toData(await telemetry.cluster.client.get(ref)));
};

describe('a workload', () => {
  it('has NothingYet before it sends, and Received soon after its first span', async () => {
    await eventually(async () =>
      expect((await readTelemetry(shop))['cart']).toMatchObject({ telemetry: 'NothingYet' }),
    );
    await waitForReceived(shop, 'cart', () => send('127.0.0.1'));
    const { telemetrySince = '' } = (await readTelemetry(shop))['cart'] ?? {};
    expect(Math.abs(Date.now() - Date.parse(telemetrySince))).toBeLessThan(30_000);
  });

  it('is received through a replica that does not lead', async () => {
    const follower = (await second.metric('lumigo_operator_leader')) === 1 ? telemetry.manager() : second;
    await waitForReceived(shop, 'late', () => send('127.0.0.3', { to: follower }));
  });

  it('has NothingYet again after its injection was removed and restored', async () => {
    const { uid } = (await telemetry.testCluster.get(deployment, shop, 'late')).metadata;
    const label = (value: string | null) =>
      telemetry.testCluster.merge(deployment, shop, 'late', { metadata: { labels: { [labels.autoTrace]: value } } });
    expect(await listed()).toContain(uid);
    await label('false');
    await eventually(async () => expect(Object.keys(await readTelemetry(shop))).not.toContain('late'));
    await eventually(async () => expect(await listed()).not.toContain(uid), { timeoutMs: 5_000 });
    await label(null);
    await telemetry.testCluster.waitForInstrumented(deployment, shop, 'late');
    await eventually(async () =>
      expect((await readTelemetry(shop))['late']).toMatchObject({ telemetry: 'NothingYet' }),
    );
  });

  it('is not received because of what a sender in another namespace claims, with the same token [F28]', async () => {
    const resource = {
      'k8s.namespace.name': bank,
      'k8s.deployment.name': 'vault',
      'k8s.statefulset.name': 'vault',
      'k8s.pod.ip': '127.0.0.2',
      'lumigo.k8s_operator.workload': `${bank}/Deployment/vault`,
      'lumigo.claimed.k8s.deployment.name': 'vault',
    };
    const id = await send('127.0.0.1', { resource, span: resource });
    // The claims are forwarded, and the proof beside them.
    expect((await waitForSpan(id)).resource).toMatchObject({
      'k8s.namespace.name': bank,
      'k8s.statefulset.name': 'vault',
      'lumigo.k8s_operator.workload': `${shop}/Deployment/cart`,
    });
    await waitForReceived(shop, 'cart', () => Promise.resolve());
    expect((await readTelemetry(bank))['vault']).toMatchObject({ telemetry: 'NothingYet' });
    const { uid } = (await telemetry.testCluster.get(deployment, bank, 'vault')).metadata;
    expect(await listed()).not.toContain(uid);
  });

  it('is received by the pod uid that it sends from the network of its node', async () => {
    const resource = { 'k8s.pod.uid': uids['agent'] ?? '' };
    await waitForReceived(onNode, 'agent', () => send(NODE, { resource, token: getToken(2) }));
  });

  it('is not received by a pod uid that any namespace of a shared token may send [F28]', async () => {
    const id = await send(NODE, { resource: { 'k8s.pod.uid': uids['guard'] ?? '' } });
    const { resource } = await waitForSpan(id);
    expect(resource).toMatchObject({ 'k8s.deployment.name': 'guard' });
    expect(Object.keys(resource)).not.toContain('lumigo.k8s_operator.workload');
    await waitForReceived(shop, 'cart', () => send('127.0.0.1'));
    expect((await readTelemetry(bank))['guard']).toMatchObject({ telemetry: 'NothingYet' });
  });

  it.each(['127.0.0.1', NODE])('is not received because %s repeats its claims [F28]', async (address) => {
    const workload = `${bank}/Deployment/vault`;
    const resource = {
      'k8s.namespace.name': bank,
      'k8s.deployment.name': 'vault',
      'lumigo.k8s_operator.workload': workload,
      'lumigo.claimed.k8s.deployment.name': 'vault',
    };
    for (const times of [2, 3]) await send(address, { resource, times });
    const page = await countsWithCart();
    expect(page).not.toContain(workload);
  });

  it('cannot add series by forged names, nor by names of its own', async () => {
    const names = Array.from({ length: 200 }, (_, index) => `forged-${index}`);
    for (const name of names)
      await send('127.0.0.1', { resource: { 'service.name': name, 'k8s.deployment.name': name, [name]: name } });
    const page = await countsWithCart();
    expect(page).not.toContain('forged');
    expect(page.split('\n').filter((line) => line.startsWith('lumigo_received')).length).toBeLessThanOrEqual(5);
  });
});

describe('a silent workload', () => {
  it('is in the condition and in lumigo explain, until its injection is removed', async () => {
    const { testCluster } = telemetry;
    await createRunning(testCluster, bank, 'quiet', { spec: { replicas: 1 } });
    await testCluster.waitForInstrumented(deployment, bank, 'quiet');
    const { generation: observedGeneration } = (await testCluster.get(deployment, bank, 'quiet')).metadata;
    const one = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
    await testCluster.setStatus({ ...deployment, namespace: bank, name: 'quiet' }, { observedGeneration, ...one });
    await eventually(
      async () =>
        expect(await testCluster.condition(bank, 'TelemetryReceived')).toMatchObject({
          status: 'False',
          reason: 'NothingReceived',
          message: expect.stringMatching(/^No telemetry arrives from Deployment\/quiet\. Check/),
        }),
      { timeoutMs: 30_000 },
    );
    expect(await testCluster.condition(shop, 'TelemetryReceived')).toMatchObject({ status: 'True' });
    const explain = ['--kubeconfig', telemetry.cluster.kubeconfig, 'explain', 'deployment/quiet', '-n', bank];
    const { stdout } = await runCommand(explain, { HOME: '/nonexistent' });
    expect(stdout).toMatch(/Telemetry: +nothing since its pods run with the injection \(2\d{3}-.*LD_PRELOAD/);
    await testCluster.client.patch(
      { ...deployment, namespace: bank, name: 'quiet' },
      { kind: 'merge', body: { metadata: { labels: { [labels.autoTrace]: 'false' } } } },
    );
    await eventually(async () => expect(await testCluster.condition(bank, 'TelemetryReceived')).toBeUndefined(), {
      timeoutMs: 30_000,
    });
  });
});

/** Returns how often each event arrived. */
function countArrivals(namespace: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { namespace: of, resource, object, change } of telemetry.sink.objects)
    if (of === namespace && resource === 'events' && change === 'ADDED')
      counts.set(object.metadata.name, (counts.get(object.metadata.name) ?? 0) + 1);
  return counts;
}

const LEASE_MS = 15_000;
/** The manager gives up before, on a busy machine as well. The kubelet would wait for 90 s. */
const GRACE_MS = 30_000;

describe('of two replicas', () => {
  it('the one that collects nothing loads a new authority of the cluster, too', async () => {
    const { cluster, installation } = telemetry;
    const readReloads = () => second.metric('lumigo_operator_telemetry_proxy_reloads_total');
    const { telemetryProxyAccountDirectory = '' } = second.collector ?? {};
    const config = { ...installation.config, podName: 'x', telemetryProxyAccountDirectory };
    // A manager does this every eight minutes.
    const renew = (ca: string) => writeAccount({ config, client: cluster.client, authority: () => ca });
    await eventually(async () => expect(await readReloads()).toBeGreaterThan(0));
    const before = await readReloads();
    await renew(cluster.ca);
    await sleep(2_500);
    expect(await readReloads()).toBe(before);
    const { certificate } = await issueAuthority('new', { now: new Date(), days: 1 });
    await renew(`${cluster.ca}\n${certificate}`);
    await eventually(async () => expect(await readReloads()).toBe(before + 1));
    await sleep(2_500);
    expect(await readReloads()).toBe(before + 1);
  });

  it('one collects, and after the Lease the other one, which keeps the times of first telemetry', async () => {
    const { testCluster, waitForCollecting, killManager, startManager } = telemetry;
    const countCollected = (manager: Manager) => manager.metric('lumigo_operator_telemetry_collected_namespaces');
    await waitForCollecting(shop);
    for (const name of ['first', 'second']) await testCluster.create(getEvent(shop, name));
    await eventually(() => expect(countArrivals(shop).get('second')).toBe(1));
    expect([countArrivals(shop).get('first'), await countCollected(second)]).toEqual([1, 0]);
    const readTimes = async () => {
      const { cart, late } = await readTelemetry(shop);
      return [cart, late, (await testCluster.condition(shop, 'TelemetryReceived'))?.lastTransitionTime];
    };
    const before = await readTimes();
    expect(before).toMatchObject([{ telemetry: 'Received' }, { telemetry: 'NothingYet' }, expect.any(String)]);

    await killManager();
    await eventually(
      async () => {
        await testCluster.create(getEvent(shop, `after-${Date.now()}`));
        expect([...countArrivals(shop).keys()].some((name) => name.startsWith('after-'))).toBe(true);
      },
      // A reload may take 20 s.
      { timeoutMs: LEASE_MS + 45_000, intervalMs: 400 },
    );
    await testCluster.create(createWorkload(deployment, shop, 'newer'));
    await eventually(async () => expect(Object.keys(await readTelemetry(shop))).toContain('newer'));
    expect(await readTimes()).toEqual(before);

    await startManager();
    await send('127.0.0.1');
    for (const name of ['third', 'fourth']) await testCluster.create(getEvent(shop, name));
    await eventually(() => expect(countArrivals(shop).get('fourth')).toBe(1));
    expect([countArrivals(shop).get('third'), await countCollected(telemetry.manager())]).toEqual([1, 0]);
  });
});

describe('the end of a pod', () => {
  it('is not delayed by a telemetry proxy that does not stop', async () => {
    const pid = second.collector?.pid() ?? 0;
    process.kill(pid, 'SIGSTOP');
    process.kill(second.pid, 'SIGTERM');
    const started = Date.now();
    expect(await second.died).toContain('telemetry proxy did not stop in time, killed it');
    expect(Date.now() - started).toBeLessThan(GRACE_MS);
    await eventually(() => expect(isAlive(pid)).toBe(false));
  });

  it('has no endpoint, and a manager that stops alone leaves its telemetry proxy running [F25]', async () => {
    const { healthPort, pid: manager, died } = telemetry.manager();
    const pid = telemetry.collector().pid();
    expect((await fetch(`http://127.0.0.1:${healthPort}/drain`)).status).toBe(404);
    process.kill(manager, 'SIGTERM');
    expect(await died).not.toContain('telemetry proxy did not stop');
    expect(telemetry.collector().pid()).toBe(pid);
    const { status } = await post(`${telemetry.collector().url}/v1/traces`, countSpans({}, [spanId(1)]), {});
    expect(status).toBe(401);
  });
});
