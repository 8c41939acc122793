import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { synthesize } from '../../infra/operator.ts';
import { parseSettings } from '../../infra/settings/settings.ts';
import { ports } from '../../runtime/contract.ts';
import { deployment, service } from '../node/apps.ts';
import { eventually } from '../testing/eventually.ts';
import { NodeTest } from './node-test.ts';
import { toolOn, type Tool } from './tools.ts';
import { createTemporaryFolder } from '../testing/temporary-folder.ts';

const manager = 'lumigo-lumigo-operator-controller-manager';
const GKE_PORT = 10_250;

let nodeTest: NodeTest;
let kubectl: Tool;
const folder = createTemporaryFolder();
beforeAll(async () => {
  nodeTest = await NodeTest.bare();
  kubectl = await toolOn(nodeTest.system.node, 'kubectl');
});
afterAll(() => nodeTest?.stop());

function applyWith(given: object): void {
  const endpoint = { otlp: { url: nodeTest.system.sink.url } };
  const manifests = synthesize(parseSettings({ endpoint, controllerManager: { replicas: 1 }, ...given }));
  const file = join(folder, 'lumigo-operator.k8s.yaml');
  writeFileSync(file, manifests.map((manifest) => stringify(manifest)).join('---\n'));
  kubectl('apply', '--server-side', '-f', file);
  kubectl('-n', 'lumigo-system', 'rollout', 'status', 'deployment', manager, '--timeout=240s');
}

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
      return Promise.resolve(items[0] as Pod);
    },
    { timeoutMs: 90_000, intervalMs: 1_000 },
  );

/** The API server reaches the webhook only some seconds after an installation. */
const waitForReach = (namespace: string) =>
  eventually(
    () => {
      const path = "jsonpath={.items[0].status.conditions[?(@.type=='WebhookReachable')].status}";
      expect(kubectl('get', 'lumigo', '-n', namespace, '-o', path)).toBe('True');
      return Promise.resolve();
    },
    { timeoutMs: 90_000, intervalMs: 1_000 },
  );

/** The webhook injects the Deployment before any reconciler can, and its spans pass through the telemetry proxy. */
async function traces(namespace: string): Promise<void> {
  await nodeTest.traced(namespace);
  await waitForReach(namespace);
  await nodeTest.waitForWebhook(namespace);
  await nodeTest.apply(deployment(namespace, 'front'), service(namespace, 'front'));
  await nodeTest.waitForRunning(namespace, 'front');
  expect(kubectl('get', 'replicasets', '-n', namespace, '-o', 'name').trim().split('\n')).toHaveLength(1);
  const url = await nodeTest.getAddress(namespace, 'front');
  await nodeTest.countSpans(url, ({ resource }) => resource['k8s.namespace.name'] === namespace);
}

describe('in a restricted cluster the operator', () => {
  it('answers at the one port that the firewall of private GKE nodes allows', async () => {
    applyWith({ ports: { webhook: GKE_PORT }, priorityClass: { create: false } });
    expect(kubectl('get', 'priorityclass', '-o', 'name')).not.toContain('lumigo');
    expect((await managerPod()).spec.priority).toBe(0);
    expect(
      kubectl('get', 'endpointslices', '-n', 'lumigo-system', '-o', 'jsonpath={.items[*].ports[*].port}').split(' '),
    ).toContain(String(GKE_PORT));
    await traces('private');
  });

  it('works on the network of its node if a control plane reaches no pods', async () => {
    // Another collector has the usual ports of this node already.
    applyWith({ hostNetwork: true, ports: { otlpHttp: 14_318, otlpGrpc: 14_317 }, priorityClass: { create: false } });
    const { status } = await managerPod();
    expect(status.podIP).toBe(status.hostIP);
    expect(
      kubectl('get', 'endpointslices', '-n', 'lumigo-system', '-o', 'jsonpath={.items[*].ports[*].port}').split(' '),
    ).toContain(String(ports.webhook));
    await traces('overlay');
  });

  it('and is removed as completely as elsewhere', async () => {
    kubectl('delete', '--ignore-not-found', '-f', join(folder, 'lumigo-operator.k8s.yaml'), '--timeout=240s');
    for (const namespace of ['private', 'overlay'])
      await nodeTest.waitForRunning(namespace, 'front', { instrumented: false });
  });
});
