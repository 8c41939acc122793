import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startApiProxy, type ApiProxy } from '../../sandbox/faults/api-proxy.ts';
import { apply, toRef } from '../../sandbox/manager/apply.ts';
import { install } from '../../sandbox/manager/install.ts';
import { waitForDeletion } from '../../sandbox/testing/destroy.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { installedAs, instrumentedAndProtected, waitForProtected } from '../../sandbox/testing/protection.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { getToken } from '../../sandbox/testing/telemetry.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { telemetryProxyFiles, workloadKinds } from '../contract.ts';
import type { PodTemplate } from '../api/objects.ts';
import { getManager } from '../installation/installation.ts';
import { getAccount, protectedObjects } from './protected-objects.ts';

let operator: OperatorBench;
let proxy: ApiProxy;
beforeAll(async () => {
  operator = await startOperator({ through: async (cluster) => (proxy = await startApiProxy(cluster)) });
});
afterAll(async () => {
  await operator?.stop();
});

const { deployment } = workloadKinds;
const restartedAt = 'kubectl.kubernetes.io/restartedAt';

const held = () => protectedObjects(installedAs(operator.installation));

/** A rollback gives the Deployment to another operator and deletes the objects that this does not use. */
async function handOver(): Promise<void> {
  const body = { spec: { template: { spec: { serviceAccountName: 'another', serviceAccount: 'another' } } } };
  await operator.cluster.client.patch(getManager(installedAs(operator.installation)), { kind: 'merge', body });
}

async function deleteHeld(pauseMs = 0): Promise<void> {
  for (const ref of held().toReversed()) {
    await operator.cluster.client.delete(ref);
    await sleep(pauseMs);
  }
}

const waitForAllDeleted = (): Promise<void> =>
  eventually(
    async () => {
      const found = await Promise.all(held().map((ref) => operator.cluster.client.find(ref)));
      expect(found).toEqual([undefined, undefined, undefined]);
    },
    { timeoutMs: 60_000 },
  );

describe('an operator whose Deployment belongs to another one', () => {
  afterEach(async () => {
    proxy.interfere = undefined;
    await operator.stopManager();
    await operator.reinstall();
  });

  it('releases its account and rights, also if they are deleted meanwhile [F51]', async () => {
    await instrumentedAndProtected(operator);
    await handOver();
    let deleted: Promise<void> | undefined;
    // The operator reads its rights from before their deletion.
    proxy.interfere = ({ method, path }) =>
      method === 'GET' && path.includes('/clusterroles/')
        ? { holdAnswer: () => (deleted ??= deleteHeld()) }
        : undefined;
    await operator.stopManager();
    expect(deleted).toBeDefined();
    await waitForAllDeleted();
  });

  it('releases them if they are deleted one after the other while it runs [F51]', async () => {
    await instrumentedAndProtected(operator);
    await handOver();
    await deleteHeld(1_000);
    await waitForAllDeleted();
  });
});

describe('no removal', () => {
  it('is the deletion of its rights alone: they can return, and tokens stay accepted [F40]', async () => {
    const { testCluster, cluster, installation } = operator;
    const namespace = await instrumentedAndProtected(operator);
    const tokens = () =>
      readFileSync(join(cluster.dir, 'manager-0', 'telemetry-proxy', telemetryProxyFiles.tokens), 'utf8');
    await testCluster.secret(namespace, getToken(0x40));
    await testCluster.changeLumigo(namespace, { metadata: { annotations: { read: 'now' } } });
    await eventually(() => expect(tokens()).toContain(getToken(0x40)));
    const rights = protectedObjects(installedAs(installation)).filter((ref) => ref.kind !== 'ServiceAccount');
    const lost = installation.manifests.filter((each) =>
      rights.some(({ kind, name }) => each.kind === kind && each.metadata.name === name),
    );
    expect(lost.length).toBe(2);
    for (const each of lost) await cluster.client.delete(toRef(each));
    for (const each of lost) await waitForDeletion(cluster, each);
    let reads = 0;
    proxy.interfere = ({ path }) => {
      reads += Number(path.endsWith(`/namespaces/${namespace}/secrets/lumigo-credentials`));
      return undefined;
    };
    // The last one follows the answers to the others.
    await eventually(() => expect(reads).toBeGreaterThanOrEqual(4), { timeoutMs: 60_000 });
    proxy.interfere = undefined;
    expect(tokens()).toContain(getToken(0x40));
    for (const each of lost) await apply(cluster.client, each);
    await waitForProtected(operator, true, 90_000);
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(true);
  });

  it('is the deletion of its account alone: account and pods return, with new tokens [F40]', async () => {
    const { testCluster, cluster } = operator;
    const { client } = cluster;
    const namespace = await instrumentedAndProtected(operator);
    const own = installedAs(operator.installation);
    const account = getAccount(own);
    const keepsakes = { labels: { theirs: 'kept' }, annotations: { 'example.com/theirs': 'kept' } };
    const body = { metadata: keepsakes, imagePullSecrets: [{ name: 'theirs' }] };
    await client.patch(account, { kind: 'merge', body });
    const before = await client.get(account);
    await client.delete(account);
    const after = await eventually(
      async () => {
        const found = await client.get(account);
        expect(found.metadata.uid).not.toBe(before.metadata.uid);
        const { spec } = (await client.get(getManager(own))) as { spec?: { template: PodTemplate } };
        expect(spec?.template.metadata?.annotations).toHaveProperty([restartedAt]);
        return found;
      },
      { timeoutMs: 40_000 },
    );
    expect(after.metadata).toMatchObject({ labels: before.metadata.labels, annotations: before.metadata.annotations });
    expect(after).toMatchObject({ imagePullSecrets: [{ name: 'theirs' }], automountServiceAccountToken: false });
    // The next version is applied without force.
    const labels = { ...before.metadata.labels, 'app.kubernetes.io/version': 'next' };
    const next = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account.name, labels } };
    await eventually(() => client.patch(account, { kind: 'apply', body: next }, { fieldManager: 'sandbox' }));
    // A rollout gives the new pod a token of the present account.
    await operator.stopManager();
    await operator.startManager();
    await waitForProtected(operator, true, 40_000);
    await testCluster.create(createWorkload(deployment, namespace, 'later'));
    await testCluster.waitForInstrumented(deployment, namespace, 'later');
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(true);
  });

  // This test is the last one, because it removes the operator.
  it('is a rename, which deletes the objects of the old name after it created the new ones [F43]', async () => {
    const { testCluster, cluster, installation } = operator;
    const namespace = await instrumentedAndProtected(operator);
    // Its webhook configuration proves the successor.
    const successor = await install(cluster.client, { settings: { name: 'successor' }, webhook: 'service' });
    const isKept = new Set(successor.manifests.map((each) => JSON.stringify(toRef(each))));
    const old = installation.manifests.filter((each) => !isKept.has(JSON.stringify(toRef(each))));
    expect(old.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['ServiceAccount', 'ClusterRole', 'Deployment']),
    );
    for (const each of old) await cluster.client.delete(toRef(each));
    await operator.stopManager();
    for (const each of old) await waitForDeletion(cluster, each);
    expect((await testCluster.readLumigo(namespace)).metadata.deletionTimestamp).toBeUndefined();
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(true);
  });
});
