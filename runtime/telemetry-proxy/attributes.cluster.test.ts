import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { repeatAttributes } from '../../sandbox/otlp-sink/sender.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { forward, plainly, send, type Sender } from '../../sandbox/testing/forwarded.ts';
import { toTokenNamespaces } from './token-namespaces.ts';
import { podAt, podName } from '../../sandbox/testing/pod-at.ts';
import { startTelemetry, getToken, type TelemetryBench } from '../../sandbox/testing/telemetry.ts';

let telemetry: TelemetryBench;
let [namespace, others, uid, other] = ['', '', '', ''];
/** Pods on the network of their node. */
let [agent, sharedAgent, otherAgent] = ['', '', ''];
beforeAll(async () => {
  telemetry = await startTelemetry({ controllerManager: false });
  namespace = await telemetry.activate('enriched', getToken(7));
  others = await telemetry.activate('others', getToken(9));
  other = await podAt(telemetry.testCluster, '127.0.0.2', { namespace: others, app: 'vault' });
  const shared = await telemetry.activate('shared', getToken(8));
  await telemetry.activate('sharing', getToken(8));
  sharedAgent = await podAt(telemetry.testCluster, undefined, { namespace: shared, app: 'agent' });
  otherAgent = await podAt(telemetry.testCluster, undefined, { namespace: others, app: 'vault-agent' });
  agent = await podAt(telemetry.testCluster, undefined, {
    namespace,
    app: 'agent',
    annotations: getAnnotations({ team: 'nodes' }),
  });
  uid = await podAt(telemetry.testCluster, '127.0.0.1', {
    namespace,
    app: 'cart',
    labels: { 'app.kubernetes.io/version': '1.2.3' },
    annotations: getAnnotations({
      team: 'checkout',
      'service.name': 'basket',
      'deployment.environment.name': 'production',
      'k8s.deployment.name': 'vault',
      'lumigo.k8s_operator.version': '9',
    }),
  });
  await podAt(telemetry.testCluster, '127.0.0.3', {
    namespace,
    app: 'talkative',
    annotations: getAnnotations(
      Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`many.${index}`, 'x'.repeat(1_000)])),
    ),
  });
  await eventually(async () => expect((await send(telemetry, {})).status).toBe(200));
  await telemetry.waitForSettled();
});
afterAll(() => telemetry?.stop());

const getAnnotations = (attributes: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`resource.opentelemetry.io/${name}`, value]));

const forwarded = (resource: Readonly<Record<string, string>> = {}, sender: Sender = {}) =>
  forward(telemetry, resource, sender);

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
        'lumigo.k8s_operator.version': '0.1.0',
        'lumigo.k8s_operator.deployment_method': 'Manifests',
        'k8s.cluster.uid': expect.stringMatching(/^[-0-9a-f]{36}$/),
      }),
    );
  });

  it('has no label of its namespace by default', async () => {
    const keys = Object.keys(await forwarded());
    expect(keys).toContain('k8s.namespace.name');
    expect(keys.filter((key) => key.startsWith('k8s.namespace.label'))).toEqual([]);
  });

  it('has the service attributes that OpenTelemetry derives from a pod', async () => {
    expect(await forwarded({ 'service.name': 'unknown_service:node', 'k8s.container.name': 'app' })).toMatchObject({
      'service.name': 'basket',
      'service.namespace': namespace,
      'service.version': '1.2.3',
      'service.instance.id': `${namespace}.cart-5b7f9c6d8f-abcde.app`,
      team: 'checkout',
      'deployment.environment.name': 'production',
    });
  });

  it('keeps the attributes of the program', async () => {
    const own = { 'service.name': 'own', 'service.namespace': 'own', 'service.version': '0', team: 'own' };
    expect(await forwarded(own)).toMatchObject(own);
  });

  it('has no more than a few short attributes of annotations, and no fact from them', async () => {
    const facts = { 'k8s.deployment.name': 'cart', 'lumigo.k8s_operator.version': '0.1.0' };
    expect(await forwarded()).toMatchObject(facts);
    const resource = await forwarded({}, { address: '127.0.0.3' });
    expect(resource).toMatchObject({ 'k8s.deployment.name': 'talkative' });
    const annotated = Object.entries(resource).filter(([name]) => name.includes('many.'));
    expect(annotated.length).toBe(32);
    expect(annotated.filter(([name, value]) => !name.startsWith('many.') || value !== 'x'.repeat(256))).toEqual([]);
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
    await eventually(async () =>
      expect(await forwarded({ 'k8s.pod.uid': agent }, { address })).toMatchObject({ ...found(), team: 'nodes' }),
    );
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
    for (const forge of [
      plainly,
      (body: object) => repeatAttributes(body, 2),
      (body: object) => repeatAttributes(body, 3),
    ]) {
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
