import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { pods, suffixes } from '../../runtime/contract.ts';
import type { InstrumentedResource } from '../../runtime/api/lumigo.ts';
import { deployment, pod, pythonImage, service } from '../node/apps.ts';
import { ask } from '../node/ask.ts';
import { pauseImage } from '../node/configs.ts';
import { waitForOperator } from '../node/operator.ts';
import type { Received } from '../otlp-sink/sink.ts';
import { eventually } from '../testing/eventually.ts';
import { podMode, waitForInjectedPods } from '../testing/pod-policy.ts';
import { getToken } from '../testing/telemetry.ts';
import { NodeTest } from './node-test.ts';
import { toolOn, type Tool } from './tools.ts';

let nodeTest: NodeTest;
let namespace: string;
let kubectl: Tool;
beforeAll(async () => {
  nodeTest = await NodeTest.start({ telemetry: { expectedWithinSeconds: 10 }, injection: { podMode: true } });
  kubectl = await toolOn(nodeTest.system.node, 'kubectl');
  ({ namespace } = await nodeTest.traced('senders'));
});
afterAll(() => nodeTest?.stop());

const patience = { timeoutMs: 120_000, intervalMs: 200 };

async function readListed(inNamespace = namespace): Promise<Readonly<Record<string, InstrumentedResource>>> {
  const { status } = await nodeTest.readLumigo(inNamespace);
  return Object.fromEntries((status?.instrumentedResources ?? []).map((listed) => [listed.name, listed]));
}

const waitForTelemetry = (name: string, telemetry: string): Promise<void> =>
  eventually(async () => expect((await readListed())[name]).toMatchObject({ telemetry }), patience);

async function replaceReplicas(): Promise<void> {
  const { node } = nodeTest.system;
  for (const { metadata } of await nodeTest.operatorPods()) {
    await nodeTest.client.delete({ ...pods, namespace: 'lumigo-system', name: metadata.name });
    await waitForOperator(node);
  }
}

it('reports Received within 30 s of the first span of a Node.js and a Python program', async () => {
  // The probes of the kubelet cause the spans.
  await nodeTest.apply(deployment(namespace, 'front'), deployment(namespace, 'stock', { image: pythonImage }));
  // A Go program, which no tracer instruments.
  await nodeTest.apply(deployment(namespace, 'mute', { image: pauseImage, command: ['/pause'] }));
  const measure = async (name: string): Promise<number> => {
    await waitForTelemetry(name, 'Received');
    const receivedAt = Date.now();
    return eventually(async () => {
      const spans = await nodeTest.system.sink.spans();
      const own = spans.filter(({ resource }) => resource['k8s.deployment.name'] === name);
      expect(own).not.toEqual([]);
      return (receivedAt - Math.min(...own.map(({ at }) => at))) / 1_000;
    });
  };
  const seconds = await Promise.all(['front', 'stock'].map(measure));
  process.stderr.write(`      Received after ${seconds.map((each) => each.toFixed(1)).join(' s and ')} s\n`);
  expect(Math.max(...seconds)).toBeLessThan(30);
});

it('names a Go program after the time of the setting', async () => {
  await waitForTelemetry('mute', 'NothingYet');
  await eventually(
    async () =>
      expect(await nodeTest.condition(namespace, 'TelemetryReceived')).toMatchObject({
        status: 'False',
        message: expect.stringContaining('from Deployment/mute. Check'),
      }),
    patience,
  );
});

it('reports Received for a program on the network of its node, by the pod uid that its tracer sends', async () => {
  const onNode = 'on-node';
  await nodeTest.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: onNode } });
  await nodeTest.activate(onNode, {}, getToken(1));
  // A replica that only forwards learns of the token's namespace when it starts, or ten minutes later.
  await replaceReplicas();
  // The program needs no port of the node.
  const script = `require('http').createServer((_, answer) => answer.end()).listen(0, '127.0.0.1', function () {
    setInterval(() => require('http').get({ port: this.address().port }, (answer) => answer.resume()), 500);
  })`;
  const command = ['/nodejs/bin/node', '-e', script];
  const onItsNetwork = { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' };
  await nodeTest.apply(deployment(onNode, 'agent', { command, pod: onItsNetwork }));
  await eventually(
    async () => expect((await readListed(onNode))['agent']).toMatchObject({ telemetry: 'Received' }),
    patience,
  );
});

describe('the operator', () => {
  it('and its traced programs continue when the kubelet is restarted', async () => {
    const { namespace } = await nodeTest.traced('kubelet');
    const url = await nodeTest.serve(namespace, 'front');
    const [before] = await nodeTest.pods(namespace, 'front');
    const isOwn = ({ resource }: Received) => resource['k8s.namespace.name'] === namespace;
    await nodeTest.countSpans(url, isOwn);
    await nodeTest.system.node.restartKubelet();
    await sleep(5_000);
    const [after] = await nodeTest.waitForRunning(namespace, 'front');
    expect(after?.metadata.uid).toBe(before?.metadata.uid);
    expect(after?.status?.containerStatuses?.map(({ restartCount }) => restartCount)).toEqual([0]);
    const countOwn = async () => (await nodeTest.system.sink.spans()).filter(isOwn).length;
    const count = await countOwn();
    await ask(url, 10_000);
    await eventually(async () => expect(await countOwn()).toBeGreaterThan(count), { timeoutMs: 20_000 });
    await nodeTest.serve(namespace, 'later');
  });
});

const manager = `lumigo-lumigo-operator${suffixes.manager}`;
const own = ['-n', 'lumigo-system'];

describe('in Pod mode', () => {
  it('a pod that is created while no operator runs is traced once it has an endpoint', async () => {
    const { namespace } = await nodeTest.traced('alone', podMode);
    await waitForInjectedPods(nodeTest, namespace, true, pod(namespace, 'probe'));
    const replicas = kubectl('get', 'deployment', manager, ...own, '-o', 'jsonpath={.spec.replicas}');
    kubectl('scale', 'deployment', manager, ...own, '--replicas=0');
    const ofManager = [...own, '-l', 'app.kubernetes.io/component=controller-manager'];
    kubectl('wait', '--for=delete', 'pod', ...ofManager, '--timeout=120s');
    await nodeTest.apply(deployment(namespace, 'front'), service(namespace, 'front'));
    const [created] = await nodeTest.waitForRunning(namespace, 'front');
    const url = await nodeTest.getAddress(namespace, 'front');
    kubectl('scale', 'deployment', manager, ...own, `--replicas=${replicas}`);
    const isOwn = ({ resource }: Received) => resource['k8s.pod.uid'] === created?.metadata.uid;
    const [span] = await nodeTest.countSpans(url, isOwn, 120_000);
    expect(span?.resource).toMatchObject({ 'k8s.namespace.name': namespace, 'service.name': 'front' });
  });
});
