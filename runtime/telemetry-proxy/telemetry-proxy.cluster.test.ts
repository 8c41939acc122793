import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { operatorVersion } from '../../infra/settings/version.ts';
import pino from 'pino';
import { stringify } from 'yaml';
import { connectTo } from '../../sandbox/control-plane/connect.ts';
import { getLumigo } from '../../sandbox/lumigo.ts';
import { repeatAttributes } from '../../sandbox/otlp-sink/sender.ts';
import { ensureBinaries } from '../../sandbox/programs/build.ts';
import { runToEnd } from '../../sandbox/run.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { forward, plainly, send, type Sender } from '../../sandbox/testing/forwarded.ts';
import { podAt, podName } from '../../sandbox/testing/pod-at.ts';
import { startTelemetry, getToken, type TelemetryBench } from '../../sandbox/testing/telemetry.ts';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';
import { getPod } from '../../sandbox/testing/workloads.ts';
import { accountFiles, pods, workloadKinds } from '../contract.ts';
import { createClient, type Client } from '../kubernetes/http/client.ts';
import { createTransport } from '../kubernetes/http/transport.ts';
import { asTelemetryProxy, keepAccount, writeAccount } from './account.ts';
import { toTokenNamespaces } from './tokens.ts';

let telemetry: TelemetryBench;
let namespace = '';
let others = '';
let uid = '';
let other = '';
/** Pods on the network of their node. */
let agent = '';
let sharedAgent = '';
let otherAgent = '';
beforeAll(async () => {
  telemetry = await startTelemetry({ controllerManager: false });
  namespace = await telemetry.activate('enriched', getToken(7));
  others = await telemetry.activate('others', getToken(9));
  other = await podAt(telemetry.testCluster, '127.0.0.2', { namespace: others, app: 'vault' });
  const shared = await telemetry.activate('shared', getToken(8));
  await telemetry.activate('sharing', getToken(8));
  sharedAgent = await podAt(telemetry.testCluster, undefined, { namespace: shared, app: 'agent' });
  otherAgent = await podAt(telemetry.testCluster, undefined, { namespace: others, app: 'vault-agent' });
  agent = await podAt(telemetry.testCluster, undefined, { namespace, app: 'agent' });
  uid = await podAt(telemetry.testCluster, '127.0.0.1', {
    namespace,
    app: 'cart',
    labels: { 'app.kubernetes.io/version': '1.2.3' },
  });
  await podAt(telemetry.testCluster, '127.0.0.3', { namespace, app: 'owned' });
  await eventually(async () => expect((await send(telemetry, {})).status).toBe(200));
  await telemetry.waitForSettled();
});
afterAll(() => telemetry?.stop());

const forwarded = (resource: Readonly<Record<string, string>> = {}, sender: Sender = {}) =>
  forward(telemetry, resource, sender);

const getEvents = async (namespace: string, reason: string) =>
  (await telemetry.testCluster.events(namespace, 'lumigo')).filter((event) => event.reason === reason);

async function everythingSaid(namespace: string): Promise<string> {
  const { manager, testCluster } = telemetry;
  const metrics = await (await fetch(`http://127.0.0.1:${manager().metricsPort}/metrics`)).text();
  const said = [await testCluster.readLumigo(namespace), await testCluster.events(namespace, 'lumigo')];
  return `${readFileSync(manager().logFile, 'utf8')}${metrics}${JSON.stringify(said)}`;
}

let shop = '';
let bank = '';
describe('a token that Lumigo refuses [F29]', () => {
  it('is reported in the Lumigo that names it, and in no other', async () => {
    const { activate, sink, metric, testCluster } = telemetry;
    sink.refused.add(getToken(2));
    shop = await activate('shop', getToken(1));
    bank = await activate('bank', getToken(2));
    await testCluster.waitForCondition(bank, 'TokenAccepted', { status: 'False', reason: 'TokenRefused' });
    expect(await metric('lumigo_operator_refused_tokens')).toBe(1);
    await eventually(async () => expect(await getEvents(bank, 'LumigoTokenRefused')).toHaveLength(1));
    await testCluster.waitForCondition(shop, 'TokenAccepted', { status: 'True', reason: 'Accepted' });
    expect(await testCluster.condition(bank, 'Active')).toMatchObject({ status: 'True' });

    const before = sink.answered[401] ?? 0;
    // An SDK also retries without an answer, because a reload closes connections.
    expect(await eventually(() => send(telemetry, {}, { token: getToken(2) }))).toMatchObject({ status: 200 });
    await eventually(() => expect(sink.answered[401]).toBeGreaterThan(before));
    expect(await everythingSaid(bank)).not.toContain(getToken(2));

    sink.refused.delete(getToken(2));
  });
});

describe('forwarded data', () => {
  it('has its pod, workload and cluster, and the operator', async () => {
    await eventually(async () =>
      expect(await forwarded({ 'service.name': 'test' })).toMatchObject({
        'service.name': 'test',
        'k8s.pod.uid': uid,
        'k8s.pod.name': 'cart-5b7f9c6d8f-abcde',
        'k8s.namespace.name': namespace,
        'k8s.replicaset.name': 'cart-5b7f9c6d8f',
        'k8s.deployment.name': 'cart',
        'lumigo.k8s_operator.version': operatorVersion(),
        'lumigo.k8s_operator.deployment_method': 'Manifests',
        'k8s.cluster.uid': expect.stringMatching(/^[-0-9a-f]{36}$/),
      }),
    );
  });

  it('has the service attributes that OpenTelemetry derives from a pod', async () => {
    expect(await forwarded({ 'service.name': 'unknown_service:node', 'k8s.container.name': 'app' })).toMatchObject({
      'service.name': 'cart',
      'service.namespace': namespace,
      'service.version': '1.2.3',
      'service.instance.id': `${namespace}.cart-5b7f9c6d8f-abcde.app`,
    });
  });

  it('keeps the attributes of the program', async () => {
    const own = { 'service.name': 'own', 'service.namespace': 'own', 'service.version': '0' };
    expect(await forwarded(own)).toMatchObject(own);
  });

  it.each([253, 254])('has the names of owners with up to 253 characters: %i', async (length) => {
    const name = 'x'.repeat(length);
    const owner = 'y'.repeat(length);
    const ownerReferences = [
      { apiVersion: 'example.com/v1', kind: 'StatefulSet', name: owner, uid: owner },
      { apiVersion: 'example.com/v1', kind: 'Job', name: `${name}`, uid: name },
    ];
    const { client } = telemetry.cluster;
    const pod = { ...pods, namespace, name: podName('owned') };
    await client.patch(pod, {
      kind: 'merge',
      body: { metadata: { ownerReferences, labels: { 'app.kubernetes.io/version': `${length}` } } },
    });
    await eventually(async () => {
      const resource = await forwarded({}, { address: '127.0.0.3' });
      expect(resource).toMatchObject({ 'service.version': `${length}`, 'k8s.pod.name': podName('owned') });
      const long = Object.keys(resource).filter((key) => resource[key] === name || resource[key] === owner);
      const all = ['job.name', 'job.uid', 'statefulset.name', 'statefulset.uid'].map((key) => `k8s.${key}`);
      expect(long.toSorted()).toEqual(length > 253 ? [] : [...all, 'service.name']);
    });
  });

  it('has nothing of a pod that waits for a node, whichever address its status names', async () => {
    const { testCluster } = telemetry;
    await testCluster.create(getPod(others, 'vault-waiting'));
    const status = { podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }] };
    await testCluster.setStatus({ ...pods, namespace: others, name: 'vault-waiting' }, status);
    await podAt(testCluster, '127.0.0.4', { namespace, app: 'later' });
    const later = { 'k8s.deployment.name': 'later' };
    await eventually(async () => expect(await forwarded({}, { address: '127.0.0.4' })).toMatchObject(later));
    expect(await forwarded()).toMatchObject({ 'k8s.deployment.name': 'cart' });
  });

  it.each([
    ['address', () => ({ 'k8s.pod.ip': '127.0.0.2' })],
    ['uid', () => ({ 'k8s.pod.uid': other })],
    ['namespace and name', () => ({ 'k8s.namespace.name': others, 'k8s.pod.name': podName('vault') })],
  ])("has nothing of another's pod if the sender claims its %s [F28]", async (_claim, claimed) => {
    const resource = await forwarded(claimed());
    // The pods are known in order of creation, and the sender's attributes stay.
    expect(resource).toMatchObject({ 'k8s.deployment.name': 'cart', ...claimed() });
    const told = Object.entries(resource).filter(([key]) => !(key in claimed()));
    expect(JSON.stringify(told)).not.toContain('vault');
    expect(JSON.stringify(told)).not.toContain(other);
  });
});

/** A node's address, from which pods on its network send. */
const address = '127.0.0.9';

describe('a sender whose address is not that of its pod', () => {
  const found = () => ({ 'k8s.deployment.name': 'agent', 'k8s.pod.uid': agent, 'k8s.namespace.name': namespace });

  it('has the attributes of the pod that it names by uid, or by name and namespace', async () => {
    await eventually(async () => expect(await forwarded({ 'k8s.pod.uid': agent }, { address })).toMatchObject(found()));
    const byName = { 'k8s.pod.name': podName('agent'), 'k8s.namespace.name': namespace };
    expect(await forwarded(byName, { address })).toMatchObject(found());
    expect(await forwarded({ ...byName, 'k8s.pod.uid': agent }, { address })).toMatchObject(found());
  });

  it('has them for each namespace of its token', async () => {
    const sender = { address, token: getToken(8) };
    await eventually(async () =>
      expect(await forwarded({ 'k8s.pod.uid': sharedAgent }, sender)).toMatchObject({ 'k8s.deployment.name': 'agent' }),
    );
  });

  it.each([
    ['no pod', () => ({})],
    ['a pod that has an address', () => ({ 'k8s.pod.uid': uid })],
    ['a pod of another namespace that has an address', () => ({ 'k8s.pod.uid': other })],
  ])('has none if it names %s', async (_named, claimed) => {
    const resource = await forwarded({ 'service.name': 'own', ...claimed() }, { address });
    const { 'service.name': name, ...added } = resource;
    const ofPod = Object.keys(added).filter((key) => !/^(lumigo|k8s[.]cluster)[.]/.test(key));
    expect([name, ofPod]).toEqual(['own', Object.keys(claimed())]);
  });

  /** The attributes that the proxy adds for a while. */
  const forgeProof = () => ({
    'lumigo.tokens': toTokenNamespaces([[getToken(7), others]]),
    'lumigo.shard': '0',
    'lumigo.before_claim': '',
  });

  const vault = () => ({ 'k8s.pod.name': podName('vault-agent'), 'k8s.namespace.name': others });
  it.each([
    ['uid', () => ({ 'k8s.pod.uid': otherAgent })],
    ['name and namespace', vault],
    ['uid and namespace', () => ({ 'k8s.pod.uid': otherAgent, 'k8s.namespace.name': others })],
    ['uid, with its own namespace', () => ({ 'k8s.pod.uid': otherAgent, 'k8s.namespace.name': namespace })],
    ['uid, with a proof of its own', () => ({ 'k8s.pod.uid': otherAgent, ...forgeProof() })],
  ])("learns nothing of another namespace's pod by its %s [F28]", async (_claim, claimed) => {
    const repeated = [2, 3].map((times) => (body: object) => repeatAttributes(body, times));
    for (const forge of [plainly, ...repeated]) {
      const resource = await forwarded({ ...claimed(), 'service.name': 'own' }, { address, forge });
      const told = Object.entries(resource).filter(([key]) => !(key in claimed()));
      expect(JSON.stringify(told)).not.toContain('vault');
      expect(Object.keys(resource)).not.toContain('k8s.deployment.name');
      expect(resource).toMatchObject({ 'service.name': 'own' });
    }
  });

  it("learns nothing of another namespace's pod by a number that reads like its own namespace [F28]", async () => {
    const own = '4711';
    await telemetry.testCluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: own } });
    await telemetry.testCluster.activate(own, {}, getToken(10));
    await telemetry.waitForSettled();
    const claimed = { 'k8s.pod.uid': otherAgent, 'k8s.namespace.name': own };
    const forge = (body: object): object =>
      JSON.parse(JSON.stringify(body).replace(`"stringValue":"${own}"`, `"intValue":"${own}"`)) as object;
    const resource = await forwarded(claimed, { address, token: getToken(10), forge });
    expect(Object.keys(resource)).not.toContain('k8s.deployment.name');
  });
});

const whoIs = async (client: Client): Promise<unknown> => {
  const ref = { group: 'authentication.k8s.io', version: 'v1', plural: 'selfsubjectreviews' };
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: {} };
  const { object } = await client.create(ref, review as never);
  return (object['status'] as { userInfo: { username: string } }).userInfo.username;
};

it("the collector's identity reads no Secret, changes no workload, and requests no token for others [F26]", async () => {
  const { name, namespace: own } = telemetry.installation.settings;
  const core = { group: '', version: 'v1' };
  const forbidden = { status: 403 };
  const collector = createClient(connectTo({ ...telemetry.cluster, token: telemetry.collector().token() }));
  const secret = { ...core, plural: 'secrets', namespace, name: 'lumigo-credentials' };
  await expect(collector.get(secret)).rejects.toMatchObject(forbidden);
  const patch = { kind: 'merge', body: { metadata: { labels: { a: 'b' } } } } as const;
  const workload = { ...workloadKinds.deployment, namespace, name: 'any' };
  await expect(collector.patch(workload, patch)).rejects.toMatchObject(forbidden);
  const account = { ...core, plural: 'serviceaccounts', namespace: own, name: `${name}-controller-manager` };
  const wanted = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec: {} };
  const request = collector.create({ ...account, subresource: 'token' }, wanted as never);
  await expect(request).rejects.toMatchObject(forbidden);
});

it("the collector's token is written for its user alone, and renewed before it expires [F26]", async () => {
  const { cluster, installation } = telemetry;
  const folder = join(cluster.dir, 'renewed');
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  const config = { ...installation.config, podName: 'x', telemetryProxyAccountDirectory: folder };
  const stop = new AbortController();
  let ca = 'the first authority';
  const options = { config, client: cluster.client, authority: () => ca };
  const logger = pino({ level: 'silent' });
  const keeping = keepAccount({ ...options, logger, signal: stop.signal, renewAt: 0.002 });
  const first = await eventually(() => read(accountFiles.token));
  expect(statSync(join(folder, accountFiles.token)).mode & 0o777).toBe(0o600);
  expect(read(accountFiles.namespace)).toBe(config.operatorNamespace);
  ca = cluster.ca;
  const server = new URL(cluster.server);
  const own = { server, ca: () => ca, authorization: () => Promise.resolve(undefined) };
  const client = createClient(createTransport(asTelemetryProxy(own, config), { userAgent: 'test' }));
  const before = await whoIs(client);
  // Two tokens of the same second have the same text.
  await eventually(() => expect(read(accountFiles.token)).not.toBe(first));
  expect(await whoIs(client)).toBe(before);
  expect(read(accountFiles.authority)).toBe(ca);
  stop.abort();
  await keeping;
  expect(await writeAccount(options)).toBe(600);
});

const getReady = async (namespace: string) => (await telemetry.testCluster.condition(namespace, 'Ready'))?.status;

describe('helm install --wait of a chart with a Lumigo', () => {
  /** Helm 4 waits for custom resources by kstatus. Helm 3 does not wait for them. */
  let helm: string;
  const chart = createTemporaryFolder();
  beforeAll(async () => {
    helm = (await ensureBinaries(['helm-4']))['helm-4'] ?? '';
    writeFileSync(join(chart, 'Chart.yaml'), stringify({ apiVersion: 'v2', name: 'app', version: '1.0.0' }));
    mkdirSync(join(chart, 'templates'));
    const { metadata, ...lumigo } = getLumigo('any');
    writeFileSync(join(chart, 'templates', 'lumigo.yaml'), stringify({ ...lumigo, metadata: { name: metadata.name } }));
  });

  function install(namespace: string, timeout = '60s') {
    const flags = `--namespace ${namespace} --kubeconfig ${telemetry.cluster.kubeconfig} --wait --timeout ${timeout}`;
    return runToEnd(helm, ['install', 'app', chart, ...flags.split(' ')], { env: { ...process.env, HOME: chart } });
  }

  it('waits for a Secret that is created later, and returns when the Lumigo is ready', async () => {
    const namespace = await telemetry.testCluster.namespace('later');
    const installed = install(namespace);
    await eventually(async () => expect(await getReady(namespace)).toBe('False'));
    await telemetry.testCluster.secret(namespace, getToken(3));
    expect(await installed).toMatchObject({ code: 0 });
    expect(await getReady(namespace)).toBe('True');
  });

  it('fails at once if Lumigo refuses the token, and shows the message', async () => {
    const namespace = await telemetry.testCluster.namespace('refused');
    telemetry.sink.refused.add(getToken(4));
    await telemetry.testCluster.secret(namespace, getToken(4));
    const message = /Lumigo\/refused-.* not ready. status: Failed, message: .* refuses the token/;
    const failure = { code: 1, stderr: expect.stringMatching(message) };
    expect(await install(namespace, '10m')).toMatchObject(failure);
  });
});

// The operator asks about a refused token once a minute, and the tests between need most of that.
describe('a token that Lumigo refused and accepts again [F29]', () => {
  it('is accepted a minute later, without another event', async () => {
    const { metric, testCluster } = telemetry;
    await testCluster.waitForCondition(bank, 'TokenAccepted', { status: 'True', reason: 'Accepted' });
    // The token of the chart with a Lumigo is still refused.
    expect(await metric('lumigo_operator_refused_tokens')).toBe(1);
    expect(await getEvents(bank, 'LumigoTokenRefused')).toHaveLength(1);
    expect(await getEvents(shop, 'LumigoTokenRefused')).toEqual([]);
  });
});
