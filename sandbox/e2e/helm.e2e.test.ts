import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { operatorVersion } from '../../infra/settings/version.ts';
import { ChartRepository } from '../chart-repository/repository.ts';
import { getLumigo } from '../lumigo.ts';
import { deployment, restrictedNamespace } from '../node/apps.ts';
import type { NodeCluster } from '../node/node.ts';
import { waitForOperator } from '../node/operator.ts';
import { ensureBinaries } from '../programs/build.ts';
import { eventually } from '../testing/eventually.ts';
import { keepCreating } from '../testing/keep-creating.ts';
import { getToken } from '../testing/telemetry.ts';
import { refuseChanges } from '../testing/refuse-changes.ts';
import { NodeTest } from './node-test.ts';
import { RolloutView } from './rollout-view.ts';
import { getInitContainers, getLeft, setting, toolOn, type Tool } from './tools.ts';

let node: NodeCluster;
let nodeTest: NodeTest;
let release: Tool;
let kubectl: Tool;
beforeAll(async () => {
  nodeTest = await NodeTest.bare();
  node = nodeTest.system.node;
  release = await toolOn(node, 'helm', '--namespace', 'lumigo-system');
  kubectl = await toolOn(node, 'kubectl');
  const charts = new ChartRepository(node, (await ensureBinaries(['helm']))['helm'] ?? '');
  charts.publish(operatorVersion());
  await charts.start();
  release('repo', 'add', 'lumigo', charts.url);
});
afterAll(() => nodeTest?.stop());

const chart = 'lumigo/lumigo-operator';
const waiting = ['--wait', '--timeout', '120s'];

const own = 'deployment,service,serviceaccount,role,rolebinding,secret,lease,job,cronjob,poddisruptionbudget';
const left = () => getLeft(kubectl, [own, '-n', 'lumigo-system']);

/** Kubernetes' garbage collector deletes the leader's Lease a moment after the pods. */
const waitForNothing = (): Promise<void> => eventually(() => expect(left()).toEqual([]), { timeoutMs: 30_000 });

describe('helm', () => {
  it('install creates two ready pods, and prints the next steps', async () => {
    await nodeTest.apply(restrictedNamespace('lumigo-system'));
    await nodeTest.apply(restrictedNamespace('bank'));
    const values = {
      'endpoint.otlp.url': nodeTest.system.sink.url,
      'monitoredNamespaces[0].namespace': 'bank',
      'lumigoToken.value': getToken(0xba_0000),
    };
    const notes = release('install', 'lumigo', chart, '--create-namespace', ...setting(values), ...waiting);
    expect(notes).toContain('kubectl apply -n NAMESPACE');
    await waitForOperator(node);
    const { namespace, token } = await nodeTest.traced('shop');
    const url = await nodeTest.serve(namespace, 'front');
    const [span] = await nodeTest.countSpans(url, ({ resource }) => resource['k8s.namespace.name'] === namespace);
    expect(span?.authorization).toBe(`LumigoToken ${token}`);
    expect(span?.resource).toMatchObject({ 'lumigo.k8s_operator.deployment_method': 'Helm' });
  });

  it("install creates the monitored namespaces' resources as well, with the given token", async () => {
    await nodeTest.apply(deployment('bank', 'front'));
    await nodeTest.waitForRunning('bank', 'front');
    kubectl('wait', 'lumigo/lumigo', '-n', 'bank', '--for=condition=Ready', '--timeout=60s');
  });

  it('test passes if all checks pass in the cluster, and leaves neither its account nor its rights', () => {
    const said = release('test', 'lumigo', '--timeout', '120s');
    const phases = said.match(/(?<=Phase: +)\w+/g);
    expect(new Set(phases)).toEqual(new Set(['Succeeded']));
    const kinds = 'job,serviceaccount,role,rolebinding,clusterrole,clusterrolebinding';
    expect(kubectl('get', kinds, '-A', '-o', 'name')).not.toContain('lumigo-lumigo-operator-check');
  });

  it('upgrade restarts the operator alone, and keeps the Lumigo of a monitored namespace', async () => {
    const getUids = async () => [
      ...(await nodeTest.pods('shop', 'front')).map(({ metadata }) => metadata.uid),
      kubectl('get', 'lumigo', 'lumigo', '-n', 'bank', '-o', 'jsonpath={.metadata.uid} {.metadata.generation}'),
    ];
    await nodeTest.apply(restrictedNamespace('broken'), getLumigo('broken'));
    kubectl('wait', 'lumigo/lumigo', '-n', 'broken', '--for=condition=Error', '--timeout=20s');
    const before = await getUids();
    const notes = release('upgrade', 'lumigo', chart, '--reuse-values', '--set', 'debug.enabled=true', ...waiting);
    expect(notes).toMatch(/! broken\/lumigo: .*lumigo-credentials/);
    expect(notes).not.toContain('! shop');
    expect(await getUids()).toEqual(before);
  });

  it('upgrade and rollback change the certificate, and the webhook misses no workload [D41]', async () => {
    const pair = 'lumigo-lumigo-operator-webhook-certificates';
    const readPair = () => kubectl('get', 'secret', pair, '-n', 'lumigo-system', '-o', 'jsonpath={.data}');
    const manager = ['-n', 'lumigo-system', '-l', 'app.kubernetes.io/component=controller-manager', '-c', 'manager'];
    const loads = async () =>
      (await kubectl.meanwhile('logs', ...manager, '--tail=-1')).split('webhook certificate loaded').length - 1;
    // Each of the two replicas serves a new certificate once its authority is trusted for 15 s.
    const waitForLoads = (count: number) =>
      eventually(async () => expect(await loads()).toBe(count), { timeoutMs: 60_000, intervalMs: 3_000 });
    await waitForOperator(node);
    const before = readPair();
    const first = await loads();
    // Each later installation of this file would instrument a thousand CronJobs of 'shop' again.
    const { namespace } = await nodeTest.traced('changing');
    // A new leader reads this Deployment beside the list of CronJobs. If it did not run, one of them would be judged
    // first, and the webhook would wait for that.
    await nodeTest.apply(deployment(namespace, 'front'));
    await new RolloutView(nodeTest).waitForVerified(namespace, 'front');
    await nodeTest.waitForWebhook(namespace);
    const creating = keepCreating(nodeTest.client, namespace);
    await release.meanwhile('upgrade', 'lumigo', chart, '--reuse-values', ...waiting);
    await waitForLoads(first + 2);
    const upgraded = readPair();
    await release.meanwhile('rollback', 'lumigo', '2', ...waiting);
    await waitForLoads(first + 4);
    await creating.atLeast(501);
    const { missed } = await creating.end();
    expect([upgraded === before, readPair() === before]).toEqual([false, true]);
    expect(release('status', 'lumigo')).toContain('STATUS: deployed');
    expect(missed).toEqual([]);
  });

  it('delete leaves no instrumented workload, no Lumigo, and nothing of the operator [D42, D43]', async () => {
    release('delete', 'lumigo', ...waiting);
    await nodeTest.waitForRunning('shop', 'front', { instrumented: false });
    await waitForNothing();
  });

  it('delete fails while a workload refuses changes, names it, and succeeds afterwards [F91]', async () => {
    await reinstall('--set', 'removal.deadlineSeconds=5');
    const relent = await refuseChanges(nodeTest.client, 'shop', { app: 'idle' });
    expect(() => release('delete', 'lumigo', '--timeout', '75s')).toThrow('Deployment shop/idle stays instrumented');
    const events = kubectl('get', 'events', '-n', 'shop', '-o', 'jsonpath={.items[*].reason}');
    expect(events).toContain('LumigoCannotRemoveInstrumentation');
    expect(getInitContainers(kubectl, 'shop', 'idle')).toBe('lumigo-injector');
    await relent();
    release('delete', 'lumigo', ...waiting);
    await waitForNothing();
    expect(getInitContainers(kubectl, 'shop', 'idle')).toBe('');
  });
});

/** Without `front`, the rollout of `idle` waits for no pod. */
async function reinstall(...flags: readonly string[]): Promise<void> {
  kubectl('delete', 'deployment', 'front', '-n', 'shop', '--ignore-not-found');
  await nodeTest.apply(restrictedNamespace('shop'), deployment('shop', 'idle', { replicas: 0 }));
  release('install', 'lumigo', chart, '--create-namespace', ...flags, ...waiting);
  await nodeTest.traced('shop');
  const isInjected = () => expect(getInitContainers(kubectl, 'shop', 'idle')).toBe('lumigo-injector');
  await eventually(isInjected, { timeoutMs: 60_000 });
}
