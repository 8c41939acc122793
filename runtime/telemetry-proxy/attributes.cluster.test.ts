import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent } from 'node:http';
import { workloadKinds } from '../contract.ts';
import { post, countSpans, spanId } from '../../sandbox/otlp-sink/sender.ts';
import type { Attributes } from '../../sandbox/otlp-sink/decode.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startTelemetry, getToken, type TelemetryBench } from '../../sandbox/testing/telemetry.ts';
import { getPod, createWorkload } from '../../sandbox/testing/workloads.ts';

let telemetry: TelemetryBench;
let [namespace, others, uid, other] = ['', '', '', ''];
beforeAll(async () => {
  telemetry = await startTelemetry({ controllerManager: false });
  namespace = await telemetry.activate('enriched', getToken(7));
  others = await telemetry.activate('others', getToken(9));
  other = await podAt('127.0.0.2', others, 'vault');
  uid = await podAt('127.0.0.1', namespace, 'cart', {
    labels: { 'app.kubernetes.io/version': '1.2.3' },
    annotations: getAnnotations({
      team: 'checkout',
      'service.name': 'basket',
      'deployment.environment.name': 'production',
      'k8s.deployment.name': 'vault',
      'lumigo.k8s_operator.version': '9',
    }),
  });
  await podAt('127.0.0.3', namespace, 'talkative', {
    annotations: getAnnotations(
      Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`many.${index}`, 'x'.repeat(1_000)])),
    ),
  });
  await eventually(async () => expect((await send({})).status).toBe(200));
  await telemetry.waitForSettled();
});
afterAll(() => telemetry?.stop());

const getAnnotations = (attributes: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`resource.opentelemetry.io/${name}`, value]));

let counter = 1;
const send = (resource: Readonly<Record<string, string>>, id = spanId(counter++), localAddress = '127.0.0.1') =>
  post(`${telemetry.collector().url}/v1/traces`, countSpans(resource, [id]), {
    token: getToken(7),
    agent: new Agent({ localAddress }),
  });

/** Returns the attributes with which the sent ones arrive, with a retry as SDKs do it. */
async function forwarded(resource: Readonly<Record<string, string>> = {}, from?: string): Promise<Attributes> {
  const id = spanId(counter++);
  await eventually(async () => expect((await send(resource, id, from)).status).toBe(200));
  return eventually(() => {
    const hex = ({ spanId: sent }: { spanId: string }) => Buffer.from(sent, 'base64').toString('hex');
    const arrived = telemetry.sink.spans.find(({ item }) => hex(item) === id);
    if (arrived === undefined) throw new Error('the span has not arrived');
    return arrived.resource;
  });
}

async function podAt(address: string, inNamespace: string, app: string, metadata: object = {}): Promise<string> {
  const { deployment } = workloadKinds;
  const { testCluster, cluster } = telemetry;
  const owner = (object: { kind: string; metadata: { name?: string; uid?: string } }, apiVersion: string) => ({
    ownerReferences: [
      { apiVersion, kind: object.kind, name: object.metadata.name, uid: object.metadata.uid, controller: true },
    ],
  });
  await testCluster.create(createWorkload(deployment, inNamespace, app));
  const owning = await testCluster.get(deployment, inNamespace, app);
  const replicaSet = createWorkload(workloadKinds.replicaSet, inNamespace, `${app}-5b7f9c6d8f`);
  await testCluster.create({
    ...replicaSet,
    metadata: { ...replicaSet.metadata, ...owner({ ...owning, kind: 'Deployment' }, 'apps/v1') },
  } as never);
  const set = await testCluster.get(workloadKinds.replicaSet, inNamespace, `${app}-5b7f9c6d8f`);
  const pod = getPod(inNamespace, `${app}-5b7f9c6d8f-abcde`);
  await testCluster.create({
    ...pod,
    metadata: { ...pod.metadata, ...metadata, ...owner({ ...set, kind: 'ReplicaSet' }, 'apps/v1') },
  } as never);
  const ref = { group: '', version: 'v1', plural: 'pods', namespace: inNamespace, name: pod.metadata.name };
  const containerStatuses = [
    { name: 'app', image: 'app:1', imageID: '', ready: true, restartCount: 0, containerID: 'containerd://a' },
  ];
  const status = { podIP: address, podIPs: [{ ip: address }], containerStatuses };
  const { object } = await cluster.client.patch({ ...ref, subresource: 'status' }, { kind: 'merge', body: { status } });
  return object.metadata.uid ?? '';
}

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
    const resource = await forwarded({}, '127.0.0.3');
    expect(resource).toMatchObject({ 'k8s.deployment.name': 'talkative' });
    const annotated = Object.entries(resource).filter(([name]) => name.includes('many.'));
    expect(annotated.length).toBe(32);
    expect(annotated.filter(([name, value]) => !name.startsWith('many.') || value !== 'x'.repeat(256))).toEqual([]);
  });

  it.each([
    ['address', () => ({ 'k8s.pod.ip': '127.0.0.2' })],
    ['uid', () => ({ 'k8s.pod.uid': other })],
    ['namespace and name', () => ({ 'k8s.namespace.name': others, 'k8s.pod.name': 'vault-5b7f9c6d8f-abcde' })],
  ])("has nothing of another's pod if the sender claims its %s [F28]", async (_claim, claimed) => {
    const resource = await forwarded(claimed());
    // The pods are known in order of creation, and the sender's attributes stay.
    expect(resource).toMatchObject({ 'k8s.deployment.name': 'cart', ...claimed() });
    const told = Object.entries(resource).filter(([key]) => !(key in claimed()));
    expect(JSON.stringify(told)).not.toContain('vault');
    expect(JSON.stringify(told)).not.toContain(other);
  });
});
