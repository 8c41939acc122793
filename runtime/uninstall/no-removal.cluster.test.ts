import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apply, toRef } from '../../sandbox/manager/apply.ts';
import { install } from '../../sandbox/manager/install.ts';
import { waitForDeletion } from '../../sandbox/testing/destroy.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { installedAs, instrumentedAndProtected, waitForProtected } from '../../sandbox/testing/protection.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { workloadKinds } from '../contract.ts';
import type { PodTemplate } from '../api/objects.ts';
import { getAccount, protectedObjects } from './protected-objects.ts';

let operator: OperatorBench;
beforeAll(async () => {
  operator = await startOperator();
});
afterAll(() => operator?.stop());

const { deployment } = workloadKinds;
const restartedAt = 'kubectl.kubernetes.io/restartedAt';

describe('no removal', () => {
  it('is the deletion of its rights alone, which can be created again [F40]', async () => {
    const { testCluster, cluster, installation } = operator;
    const namespace = await instrumentedAndProtected(operator);
    const rights = protectedObjects(installedAs(installation)).filter((ref) => ref.kind !== 'ServiceAccount');
    const lost = installation.manifests.filter((each) =>
      rights.some(({ kind, name }) => each.kind === kind && each.metadata.name === name),
    );
    expect(lost.length).toBe(2);
    for (const each of lost) await cluster.client.delete(toRef(each));
    for (const each of lost) await waitForDeletion(cluster, each);
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
    const deployed = { ...deployment, namespace: account.namespace, name: account.name };
    const keepsakes = { labels: { theirs: 'kept' }, annotations: { 'example.com/theirs': 'kept' } };
    const body = { metadata: keepsakes, imagePullSecrets: [{ name: 'theirs' }] };
    await client.patch(account, { kind: 'merge', body });
    const before = await client.get(account);
    await client.delete(account);
    const after = await eventually(
      async () => {
        const found = await client.get(account);
        expect(found.metadata.uid).not.toBe(before.metadata.uid);
        const { spec } = (await client.get(deployed)) as { spec?: { template: PodTemplate } };
        expect(spec?.template.metadata?.annotations).toHaveProperty([restartedAt]);
        return found;
      },
      { timeoutMs: 40_000 },
    );
    expect(after.metadata).toMatchObject({ labels: before.metadata.labels, annotations: before.metadata.annotations });
    expect(after).toMatchObject({ imagePullSecrets: [{ name: 'theirs' }], automountServiceAccountToken: false });
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
