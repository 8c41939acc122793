import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { synthesize } from '../../infra/operator.ts';
import { parseSettings } from '../../infra/settings/settings.ts';
import { deployment, service } from '../node/apps.ts';
import type { NodeCluster } from '../node/node.ts';
import { waitForOperator } from '../node/operator.ts';
import { eventually } from '../testing/eventually.ts';
import { NodeTest } from './node-test.ts';
import { getInitContainers, toolOn, type Tool } from './tools.ts';
import { createTemporaryFolder } from '../testing/temporary-folder.ts';

let node: NodeCluster;
let nodeTest: NodeTest;
let kubectl: Tool;
const folder = createTemporaryFolder();
let file = '';
beforeAll(async () => {
  nodeTest = await NodeTest.bare();
  node = nodeTest.system.node;
  kubectl = await toolOn(node, 'kubectl');
  file = join(folder, 'lumigo-operator.k8s.yaml');
  const settings = parseSettings({ endpoint: { otlp: { url: nodeTest.system.sink.url } } });
  writeFileSync(
    file,
    synthesize(settings)
      .map((manifest) => stringify(manifest))
      .join('---\n'),
  );
});
afterAll(() => nodeTest?.stop());

function left(): string[] {
  const kinds = 'namespace,crd,mutatingwebhookconfiguration,clusterrole,clusterrolebinding,priorityclass';
  return kubectl('get', kinds, '-o', 'name')
    .split('\n')
    .filter((name) => name.includes('lumigo'));
}

describe('the plain manifests', () => {
  it('install an operator that needs nothing else, such as a certificate', async () => {
    kubectl('apply', '--server-side', '-f', file);
    kubectl('-n', 'lumigo-system', 'rollout', 'status', 'deployment', 'lumigo-lumigo-operator-controller-manager');
    await waitForOperator(node);
    const { namespace } = await nodeTest.traced('shop');
    await nodeTest.apply(deployment(namespace, 'front'), service(namespace, 'front'));
    await nodeTest.waitForRunning(namespace, 'front');
  });

  it('change nothing when they are applied again, whatever the operator wrote meanwhile', () => {
    const versions = () =>
      kubectl(
        ...['get', 'deployment,service,mutatingwebhookconfiguration,clusterrole,crd', '--all-namespaces'],
        ...[
          '-l',
          'app.kubernetes.io/part-of=lumigo',
          '-o',
          'jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.generation}{"\\n"}{end}',
        ],
      );
    const before = versions();
    expect(before).toContain('MutatingWebhookConfiguration/lumigo-lumigo-operator-injector-webhook');
    kubectl('apply', '--server-side', '-f', file);
    expect(versions()).toBe(before);
    expect(kubectl('diff', '--server-side', '-f', file)).toBe('');
  });

  it('leave nothing, and no workload instrumented, when all are deleted at once [D42, D43]', async () => {
    kubectl('delete', '--ignore-not-found', '-f', file, '--timeout=240s');
    expect(left()).toEqual([]);
    await nodeTest.waitForRunning('shop', 'front', { instrumented: false });
    // The next test has no pods to wait for.
    kubectl('delete', 'deployment', 'front', '-n', 'shop');
  });

  it('leave no injection and nothing stuck when their namespace is deleted first [D42]', async () => {
    kubectl('apply', '--server-side', '-f', file);
    kubectl('-n', 'lumigo-system', 'rollout', 'status', 'deployment', 'lumigo-lumigo-operator-controller-manager');
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
