import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { synthesize } from '../../infra/operator.ts';
import { parseSettings } from '../../infra/settings/settings.ts';
import { ports } from '../../runtime/contract.ts';
import { deployment } from '../node/apps.ts';
import { waitForOperator } from '../node/operator.ts';
import { eventually } from '../testing/eventually.ts';
import { NodeTest } from './node-test.ts';
import { getInitContainers, getLeft, toolOn, type Tool } from './tools.ts';
import { createTemporaryFolder } from '../testing/temporary-folder.ts';

const manager = 'lumigo-lumigo-operator-controller-manager';
const GKE_PORT = 10_250;

let nodeTest: NodeTest;
let kubectl: Tool;
const file = join(createTemporaryFolder(), 'lumigo-operator.k8s.yaml');
beforeAll(async () => {
  nodeTest = await NodeTest.bare();
  kubectl = await toolOn(nodeTest.system.node, 'kubectl');
});
afterAll(() => nodeTest?.stop());

function applyWith(given: object = {}): void {
  const endpoint = { otlp: { url: nodeTest.system.sink.url } };
  const manifests = synthesize(parseSettings({ endpoint, ...given }));
  writeFileSync(file, manifests.map((manifest) => stringify(manifest)).join('---\n'));
  kubectl('apply', '--server-side', '-f', file);
  kubectl('-n', 'lumigo-system', 'rollout', 'status', 'deployment', manager, '--timeout=240s');
}

const left = () => getLeft(kubectl, ['namespace']);

const endpointPorts = (): readonly string[] =>
  kubectl('get', 'endpointslices', '-n', 'lumigo-system', '-o', 'jsonpath={.items[*].ports[*].port}').split(' ');

interface Pod {
  spec: { priority: number };
  status: { podIP: string; hostIP: string };
}

/** A former pod answers until it has ended, and its last connections can miss a request. */
const managerPod = (): Promise<Pod> =>
  eventually(
    () => {
      const selector = 'app.kubernetes.io/component=controller-manager';
      const listed = kubectl('get', 'pods', '-n', 'lumigo-system', '-l', selector, '-o', 'json');
      const { items } = JSON.parse(listed) as { items: Pod[] };
      expect(items).toHaveLength(1);
      return items[0] as Pod;
    },
    { timeoutMs: 90_000, intervalMs: 1_000 },
  );

/** The API server reaches the webhook only some seconds after an installation. */
const waitForReach = (namespace: string) =>
  eventually(
    () => {
      const path = "jsonpath={.items[0].status.conditions[?(@.type=='WebhookReachable')].status}";
      expect(kubectl('get', 'lumigo', '-n', namespace, '-o', path)).toBe('True');
    },
    { timeoutMs: 90_000, intervalMs: 1_000 },
  );

/** The webhook injects the Deployment before any reconciler can, and its spans pass through the telemetry proxy. */
async function traces(namespace: string): Promise<void> {
  await nodeTest.traced(namespace);
  await waitForReach(namespace);
  await nodeTest.waitForWebhook(namespace);
  const url = await nodeTest.serve(namespace, 'front');
  expect(kubectl('get', 'replicasets', '-n', namespace, '-o', 'name').trim().split('\n')).toHaveLength(1);
  await nodeTest.countSpans(url, ({ resource }) => resource['k8s.namespace.name'] === namespace);
}

const restricted = { controllerManager: { replicas: 1 }, priorityClass: { create: false } };

describe('in a restricted cluster the operator', () => {
  it('answers at the one port that the firewall of private GKE nodes allows', async () => {
    applyWith({ ...restricted, ports: { webhook: GKE_PORT } });
    expect(kubectl('get', 'priorityclass', '-o', 'name')).not.toContain('lumigo');
    expect((await managerPod()).spec.priority).toBe(0);
    expect(endpointPorts()).toContain(String(GKE_PORT));
    await traces('private');
  });
});

describe('the plain manifests', () => {
  it('install an operator that needs nothing else, such as a certificate', async () => {
    applyWith();
    await waitForOperator(nodeTest.system.node);
    const { namespace } = await nodeTest.traced('shop');
    await nodeTest.serve(namespace, 'front');
  });

  it('change nothing when they are applied again, whatever the operator wrote meanwhile', () => {
    const kinds = 'deployment,service,mutatingwebhookconfiguration,clusterrole,crd';
    const each = 'jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.generation}{"\\n"}{end}';
    const versions = () => kubectl('get', kinds, '-A', '-l', 'app.kubernetes.io/part-of=lumigo', '-o', each);
    const before = versions();
    expect(before).toContain('MutatingWebhookConfiguration/lumigo-lumigo-operator-injector-webhook');
    kubectl('apply', '--server-side', '-f', file);
    expect(versions()).toBe(before);
    expect(kubectl('diff', '--server-side', '-f', file)).toBe('');
  });

  it('leave nothing, and no workload instrumented, when all are deleted at once [D42, D43]', async () => {
    kubectl('delete', '--ignore-not-found', '-f', file, '--timeout=240s');
    expect(left()).toEqual([]);
    for (const namespace of ['private', 'shop'])
      await nodeTest.waitForRunning(namespace, 'front', { instrumented: false });
    // The next test has no pods to wait for.
    kubectl('delete', 'deployment', 'front', '-n', 'shop');
  });

  it('leave no injection and nothing stuck when their namespace is deleted first [D42]', async () => {
    applyWith();
    await nodeTest.apply(deployment('shop', 'idle', { replicas: 0 }));
    await nodeTest.traced('shop');
    const isInjected = () => expect(getInitContainers(kubectl, 'shop', 'idle')).toBe('lumigo-injector');
    await eventually(isInjected, { timeoutMs: 60_000 });
    kubectl('delete', 'namespace', 'lumigo-system', '--timeout=240s');
    expect(getInitContainers(kubectl, 'shop', 'idle')).toBe('');
    expect(kubectl('get', 'lumigo', '--all-namespaces', '-o', 'name')).toBe('');
    kubectl('delete', '-f', file, '--ignore-not-found', '--timeout=120s');
    expect(left()).toEqual([]);
  });
});

// Last, because another apply would keep the host ports that the API server adds.
describe('in a cluster with an overlay network the operator', () => {
  it('works on the network of its node if a control plane reaches no pods', async () => {
    // Another collector has the usual ports of this node already.
    applyWith({ ...restricted, hostNetwork: true, ports: { otlpHttp: 14_318, otlpGrpc: 14_317 } });
    const { status } = await managerPod();
    expect(status.podIP).toBe(status.hostIP);
    expect(endpointPorts()).toContain(String(ports.webhook));
    await traces('overlay');
    kubectl('delete', '-f', file, '--ignore-not-found', '--timeout=240s');
    expect(left()).toEqual([]);
    await nodeTest.waitForRunning('overlay', 'front', { instrumented: false });
  });
});
