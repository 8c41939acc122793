import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeChart } from '../../infra/helm/chart.ts';
import { deployment, restrictedNamespace, service } from '../node/apps.ts';
import type { NodeCluster } from '../node/node.ts';
import { whenOperatorReady } from '../node/operator.ts';
import { NodeBench } from './bench.ts';
import { toolOn, type Tool } from './tools.ts';

/** The life of a Helm release on a real node, with the commands that users know. */
let node: NodeCluster;
let bench: NodeBench;
let release: Tool;
let chart = '';
beforeAll(async () => {
  chart = mkdtempSync(join(tmpdir(), 'lumigo-chart-'));
  writeChart(chart);
  bench = await NodeBench.bare();
  node = bench.system.node;
  release = await toolOn(node, 'helm', '--namespace', 'lumigo-system');
});
afterAll(async () => {
  await bench?.stop();
  rmSync(chart, { recursive: true, force: true });
});

const waiting = ['--wait', '--timeout', '120s'];

async function left(group: string, plural: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { items } of node.client.pages({ group, version: 'v1', plural }))
    names.push(...items.map(({ metadata }) => metadata.name ?? '').filter((name) => name.includes('lumigo')));
  return names;
}

describe('helm', () => {
  it('install brings two ready pods, and tells what to do next', async () => {
    await bench.apply(restrictedNamespace('lumigo-system'));
    const endpoint = `endpoint.otlp.url=${bench.system.sink.url}`;
    const notes = release('install', 'lumigo', chart, '--create-namespace', '--set', endpoint, ...waiting);
    expect(notes).toContain('kubectl apply -n NAMESPACE');
    await whenOperatorReady(node);
    const { namespace, token } = await bench.namespace('shop');
    await bench.apply(deployment(namespace, 'front'), service(namespace, 'front'));
    await bench.whenRunning(namespace, 'front');
    const [span] = await bench.spansOf(
      await bench.addressOf(namespace, 'front'),
      ({ resource }) => resource['k8s.namespace.name'] === namespace,
    );
    expect(span?.authorization).toBe(`LumigoToken ${token}`);
    expect(span?.resource).toMatchObject({ 'lumigo.k8s_operator.deployment_method': 'Helm' });
  });

  it('upgrade restarts the operator alone, and brings the Lumigo of a monitored namespace', async () => {
    const [before] = await bench.pods('shop', 'front');
    await bench.apply(restrictedNamespace('bank'));
    const values = ['--set', 'debug.enabled=true', '--set', 'monitoredNamespaces[0].namespace=bank'];
    release('upgrade', 'lumigo', chart, '--reuse-values', ...values, ...waiting);
    const [after] = await bench.pods('shop', 'front');
    expect(after?.metadata.uid).toBe(before?.metadata.uid);
    const lumigo = { group: 'operator.lumigo.io', version: 'v1alpha1', plural: 'lumigoes', namespace: 'bank' };
    expect((await node.client.get({ ...lumigo, name: 'lumigo' })).metadata.name).toBe('lumigo');
  });

  it('rollback takes that back', () => {
    release('rollback', 'lumigo', '1', ...waiting);
    expect(release('status', 'lumigo')).toContain('STATUS: deployed');
  });

  it('D42: delete leaves no instrumented workload, no Lumigo, and nothing of the operator', async () => {
    release('uninstall', 'lumigo', ...waiting);
    await bench.whenRunning('shop', 'front', { instrumented: false });
    expect(await left('apiextensions.k8s.io', 'customresourcedefinitions')).toEqual([]);
    expect(await left('admissionregistration.k8s.io', 'mutatingwebhookconfigurations')).toEqual([]);
    expect(await left('rbac.authorization.k8s.io', 'clusterroles')).toEqual([]);
    expect(await left('scheduling.k8s.io', 'priorityclasses')).toEqual([]);
    expect(await left('apps', 'deployments')).toEqual([]);
  });
});
