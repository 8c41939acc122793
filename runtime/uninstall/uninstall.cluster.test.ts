import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectTo } from '../../sandbox/control-plane/connect.ts';
import { startApiProxy } from '../../sandbox/faults/api-proxy.ts';
import { apply, toRef } from '../../sandbox/manager/apply.ts';
import { runCommand, runInContainer } from '../../sandbox/manager/command.ts';
import { instrumentedByOriginal, originalLabel } from '../../sandbox/original/injected.ts';
import { waitForDeletion } from '../../sandbox/testing/destroy.ts';
import { nextSecond } from '../../sandbox/testing/eventually.ts';
import { startMutatingWebhook } from '../../sandbox/testing/mutating-webhook.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { protection, waitForProtected } from '../../sandbox/testing/protection.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import type { Workload } from '../api/objects.ts';
import { annotations, labels, lumigo as contract, workloadKinds } from '../contract.ts';
import { getManager } from '../installation/installation.ts';
import { createClient, listAll } from '../kubernetes/http/client.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { uninstall as removeAll } from './uninstall.ts';

let operator: OperatorBench;
beforeAll(async () => {
  operator = await startOperator({ controllerManager: false });
});
afterAll(() => operator?.stop());

const { deployment, job } = workloadKinds;
const uninstall = (deadline = '60', ...flags: readonly string[]) =>
  runInContainer(operator.cluster, operator.installation, ['uninstall', '--deadline', deadline, ...flags]);

/** Runs it on a user's machine. */
const uninstallFrom = ({ kubeconfig }: OperatorBench['cluster']) =>
  runCommand(['uninstall', '--kubeconfig', kubeconfig], {});

/** Returns what it prints. */
async function succeeding(running: ReturnType<typeof uninstall>): Promise<string> {
  const { code, stdout, stderr } = await running;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

/** The holder's clock is five minutes ahead. A running manager takes the Lease one second after it has seen it. */
async function expireLease(): Promise<void> {
  const { cluster, installation } = operator;
  const { name, namespace } = installation.settings;
  const lease = { ...kinds.leases, namespace, name: `${name}-leader` };
  const renewTime = new Date(Date.now() + 300_000).toISOString().replace('Z', '000Z');
  await cluster.client.patch(lease, { kind: 'merge', body: { spec: { renewTime, leaseDurationSeconds: 1 } } });
}

const keep = { tracing: { injection: { removeLumigoFromResourcesOnDeletion: false } } };

describe('uninstall', () => {
  it("removes nothing as the chart's hook unless Helm installed the operator", async () => {
    const { testCluster, cluster, installation } = operator;
    const namespace = await testCluster.instrumented('templated');
    const runHook = () => succeeding(uninstall('60', '--helm-hook'));
    expect(await runHook()).toContain('Helm did not install this operator, so nothing is removed.');
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(true);
    expect((await testCluster.readLumigo(namespace)).metadata.deletionTimestamp).toBeUndefined();
    const ofRelease = { metadata: { annotations: { 'meta.helm.sh/release-name': 'lumigo' } } };
    await cluster.client.patch(getManager(installation.config), { kind: 'merge', body: ofRelease });
    expect(await runHook()).toContain('Deleting 1 Lumigo resource.');
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(false);
  });

  it('reports what is stuck and why after its timeout', async () => {
    const { testCluster, cluster } = operator;
    const namespace = await testCluster.instrumented('leaving');
    const ref = { ...contract, namespace, name: 'lumigo' };
    const finalizers = (list: string[]) =>
      cluster.client.patch(ref, { kind: 'merge', body: { metadata: { finalizers: list } } });
    await finalizers([contract.finalizer, 'example.com/another-controller']);
    // The command may have no time to list again after its own deletion.
    await cluster.client.delete(ref);
    const stuck = `${namespace}/lumigo: finalizers of other controllers keep it: example.com/another-controller`;
    const { code, stdout, stderr } = await uninstall('3', '-o', 'json');
    expect([code, JSON.parse(stdout)]).toEqual([1, { stuck: [stuck] }]);
    expect(stderr).toContain(`Waiting for 1 Lumigo resource: ${namespace}/lumigo`);
    expect(stderr).toContain(`not everything could be removed in 3 s:\n  ${stuck}`);
    await finalizers([]);
    await testCluster.waitForInstrumented(deployment, namespace, 'app', false);
  });

  it('names workloads from which the manager could not remove the injection, and none that keep it', async () => {
    const { testCluster, refuseChanges } = operator;
    const kept = await testCluster.instrumented('leaving', keep);
    const namespace = await testCluster.instrumented('leaving');
    const relent = await refuseChanges(namespace, { app: 'app' });
    const { code, stderr } = await uninstall('4');
    await relent();
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.not.stringContaining(`Deployment ${kept}`) });
    expect(stderr).toContain(
      `1 still instrumented: Deployment ${namespace}/app. The event LumigoCannotRemoveInstrumentation `,
    );
    await testCluster.waitForInstrumented(deployment, namespace, 'app', false);
  });

  it('is not stopped by a forged manager, an object too large to read, or a list that fails once', async () => {
    const { testCluster, cluster, installation } = operator;
    const elsewhere = await testCluster.namespace('elsewhere');
    const manager = { 'app.kubernetes.io/part-of': 'lumigo', 'app.kubernetes.io/component': 'controller-manager' };
    await testCluster.create(createWorkload(deployment, elsewhere, 'forged', { labels: manager }));
    // Each `<` has six characters in the API server's JSON.
    const containers = [{ name: 'app', image: 'app:1', args: ['<'.repeat(1_000_000)] }];
    const large = { labels: { [labels.autoTrace]: 'any' }, pod: { containers } };
    const manifest = createWorkload(deployment, elsewhere, 'large', large);
    await cluster.client.create({ ...deployment, namespace: elsewhere }, manifest, { metadataOnly: true });
    const namespace = await testCluster.instrumented('leaving');
    const proxy = await startApiProxy(cluster);
    let lists = 0;
    proxy.interfere = ({ method, path }) =>
      method === 'GET' && path.includes(`/${contract.plural}`) && (lists += 1) === 2 ? { answer: 500 } : undefined;
    const through = { ...cluster, server: proxy.server };
    const { code, stdout, stderr } = await runInContainer(through, installation, ['uninstall', '--deadline', '60']);
    await proxy.close();
    for (const name of ['forged', 'large']) await cluster.client.delete({ ...deployment, namespace: elsewhere, name });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('The last attempt failed: ') });
    expect(stderr).toContain('Passed over deployments that are too large to read');
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(false);
  });
});

describe('uninstall without a manager', () => {
  const label = (value: string | null) => ({ labels: { [labels.autoTrace]: value } });
  const changed = {
    'opted-out': label('false'),
    'set-back': label('true'),
    unlabelled: label(null),
    unmarked: { annotations: { [annotations.instrumentation]: null } },
  };
  let gone: string;
  let kept: string;
  beforeAll(async () => {
    const { testCluster } = operator;
    gone = await testCluster.instrumented('leaving');
    kept = await testCluster.instrumented('leaving', keep);
    for (const name of Object.keys(changed)) {
      await testCluster.create(createWorkload(deployment, gone, name));
      await testCluster.waitForInstrumented(deployment, gone, name);
    }
    await waitForProtected(operator, true);
    await operator.killManager();
    // An expired Lease shows that the manager is not merely restarting.
    await expireLease();
  });
  afterAll(() => operator.startManager());

  const byOriginal = (namespace: string) => {
    const workload = createWorkload(deployment, namespace, 'app') as unknown as Workload;
    return operator.testCluster.create(instrumentedByOriginal(workload) as never);
  };
  const withFinalizer = async (namespace: string, name = 'lumigo') => {
    await operator.testCluster.lumigo(namespace, {}, name);
    await operator.testCluster.changeLumigo(namespace, { metadata: { finalizers: [contract.finalizer] } }, name);
  };

  it('removes injections and finalizers itself [D42]', async () => {
    const { testCluster, cluster } = operator;
    for (const [name, metadata] of Object.entries(changed))
      await testCluster.merge(deployment, gone, name, { metadata });
    await testCluster.merge(deployment, kept, 'app', { metadata: label(null) });
    // A younger one does not act.
    await nextSecond();
    await testCluster.lumigo(gone, keep, 'younger');
    expect(await succeeding(uninstall())).toContain('Removed the injection from 5 workloads.');
    expect(await protection(operator)).toEqual([false, false, false]);
    for (const name of ['app', ...Object.keys(changed)])
      expect([name, await testCluster.isInstrumented(deployment, gone, name)]).toEqual([name, false]);
    expect(await testCluster.label(deployment, gone, 'set-back')).toBe('true');
    // The next manager would inject it, because it opts in.
    await cluster.client.delete({ ...deployment, namespace: gone, name: 'set-back' });
    expect(await testCluster.isInstrumented(deployment, kept, 'app')).toBe(true);
    for (const each of [gone, kept]) await expect(testCluster.readLumigo(each)).rejects.toThrow('not found');
  });

  it('removes injections of the original operator, and restores its opt-ins', async () => {
    const { testCluster, cluster } = operator;
    const each = await Promise.all(['gone', 'kept', 'alone'].map((prefix) => testCluster.namespace(prefix)));
    const [traced = '', staying = ''] = each;
    await withFinalizer(traced);
    await testCluster.lumigo(staying, keep);
    for (const namespace of each) await byOriginal(namespace);
    expect(await succeeding(uninstall())).toContain('Removed the injection from 2 workloads.');
    const found = each.map(async (namespace) => [
      await testCluster.isInstrumented(deployment, namespace, 'app'),
      await testCluster.label(deployment, namespace, 'app'),
    ]);
    expect(await Promise.all(found)).toEqual([
      [false, undefined],
      [true, originalLabel],
      [false, 'true'],
    ]);
    // The chart's hook and the end of the operator do the same again, and find no `Lumigo`.
    const { code, stdout, stderr } = await uninstall('60', '-o', 'json');
    expect([code, JSON.parse(stdout)]).toEqual([0, { stuck: [] }]);
    expect(stderr).toContain('No Lumigo resource is left, and no injection to remove.');
    expect(stderr).not.toContain('Removed the injection');
    expect(await testCluster.isInstrumented(deployment, staying, 'app')).toBe(true);
    for (const namespace of each) await cluster.client.delete({ ...deployment, namespace, name: 'app' });
  });

  it('names a workload whose change a webhook denies, also with the code of a missing object', async () => {
    const { testCluster, cluster } = operator;
    const namespace = await testCluster.namespace('denied');
    await withFinalizer(namespace);
    await byOriginal(namespace);
    const endWebhook = await startMutatingWebhook({
      client: cluster.client,
      name: 'denies',
      rule: { apiGroups: ['apps'], resources: ['deployments'], operations: ['CREATE', 'UPDATE'] },
      mutate: ({ metadata }) => (metadata.name === 'app' ? 404 : []),
      probe: createWorkload(deployment, namespace, 'probe'),
    });
    // One round, whose attempts take the time that they need.
    const options = { client: cluster.client, installed: undefined, print: () => undefined };
    const stuck = await removeAll({ ...options, deadline: Date.now(), until: Infinity }).finally(endWebhook);
    await succeeding(uninstall());
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(false);
    const problem = `Deployment ${namespace}/app stays instrumented: admission webhook "another-team.example.com" denied`;
    expect(stuck).toContainEqual(expect.stringContaining(problem));
  });

  it('releases each stuck Lumigo at the deadline, also if the release of eight others is refused', async () => {
    const { testCluster, cluster } = operator;
    const namespace = await testCluster.namespace('stuck');
    await byOriginal(namespace);
    for (let index = 1; index <= 9; index += 1) {
      await withFinalizer(namespace, `lumigo-${index}`);
      await cluster.client.delete({ ...contract, namespace, name: `lumigo-${index}` });
    }
    const proxy = await startApiProxy(cluster);
    let patches = 0;
    proxy.interfere = ({ method, path }) =>
      method === 'PATCH' && path.includes(`/${contract.plural}/`) && (patches += 1) <= 8 ? { answer: 422 } : undefined;
    const transport = connectTo({ ...cluster, server: proxy.server });
    const options = { client: createClient(transport), installed: undefined, print: () => undefined };
    const stuck = await removeAll({ ...options, deadline: Date.now(), isLast: true });
    expect(stuck.filter((line) => line.endsWith(': interfered with'))).toHaveLength(8);
    expect(await listAll(cluster.client, { ...contract, namespace })).toHaveLength(8);
    transport.close();
    await proxy.close();
  });

  it("succeeds from a user's machine although the manager's right to its Lease is gone", async () => {
    const { testCluster, cluster, installation } = operator;
    const namespace = await testCluster.namespace('leaving');
    await withFinalizer(namespace);
    await byOriginal(namespace);
    // No finalizer protects it, so a removal of all objects deletes it long before the ClusterRole.
    const bindings = installation.manifests.filter(({ kind }) => kind === 'RoleBinding');
    for (const binding of bindings) await cluster.client.delete(toRef(binding));
    await succeeding(uninstallFrom(cluster));
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(false);
    for (const binding of bindings) await apply(cluster.client, binding);
  });
});

describe('uninstall with a manager', () => {
  it('does not wait for a leader that has lost its rights', async () => {
    const { testCluster, cluster, installation } = operator;
    const namespace = await testCluster.instrumented('leaving');
    const bindings = installation.manifests.filter(({ kind }) => kind === 'ClusterRoleBinding');
    for (const binding of bindings) await cluster.client.delete(toRef(binding));
    for (const binding of bindings) await waitForDeletion(cluster, binding);
    expect(await succeeding(uninstallFrom(cluster))).toContain("The operator's account has lost its rights");
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(false);
    await operator.stopManager();
    for (const binding of bindings) await apply(cluster.client, binding);
    await expireLease();
    await operator.startManager();
  });

  // This test is the last one because it takes the Lease from the manager for a while.
  it('deletes every Lumigo, and each injection unless it must stay [D8, D9]', async () => {
    const { testCluster, cluster } = operator;
    const gone = await testCluster.instrumented('leaving');
    const kept = await testCluster.instrumented('leaving', keep);
    const alone = await testCluster.namespace('opted-in');
    await testCluster.create(createWorkload(deployment, alone, 'app', { labels: { [labels.autoTrace]: 'true' } }));
    await testCluster.waitForInstrumented(deployment, alone, 'app');
    const before = await testCluster.toTemplate(deployment, kept, 'app');
    for (const name of ['running', 'finished']) await testCluster.create(createWorkload(job, gone, name));
    expect(await testCluster.isInstrumented(job, gone, 'finished')).toBe(true);
    const conditions = ['FailureTarget', 'Failed'].map((type) => ({ type, status: 'True' }));
    const finished = { startTime: '2026-06-01T10:00:00Z', conditions };
    await testCluster.setStatus({ ...job, namespace: gone, name: 'finished' }, finished);
    const printed = await succeeding(uninstallFrom(cluster));
    expect(printed).toContain('Deleting 2 Lumigo resources.');
    expect(printed).toContain(`Jobs cannot change, and these keep the injection until they end: ${gone}/running\n`);
    expect(await testCluster.isInstrumented(deployment, gone, 'app')).toBe(false);
    expect(await testCluster.toTemplate(deployment, kept, 'app')).toEqual(before);
    expect(await testCluster.label(deployment, alone, 'app')).toBe('true');
    expect(await testCluster.isInstrumented(deployment, alone, 'app')).toBe(false);
    const { labels: own, annotations = {} } = (await testCluster.get(deployment, gone, 'app')).metadata;
    expect(own).toEqual({ app: 'app' });
    expect(Object.keys(annotations).filter((key) => key.includes('lumigo'))).toEqual([]);
  });
});
