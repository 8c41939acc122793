import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Manifest } from '../../infra/constructs/manifest.ts';
import { apply, toRef } from '../../sandbox/manager/apply.ts';
import { runCommand, runInContainer } from '../../sandbox/manager/command.ts';
import { destroy, waitForDeletion } from '../../sandbox/testing/destroy.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { protection, instrumentedAndProtected, waitForProtected } from '../../sandbox/testing/protection.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { labels, workloadKinds } from '../contract.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';

let operator: OperatorBench;
const start = async (): Promise<void> => void (operator = await startOperator());
const stop = (): Promise<void> | undefined => operator?.stop();

const { deployment } = workloadKinds;
const namespaces = kinds.namespaces;

describe('the cleanup finalizer on the operator’s account and rights', () => {
  beforeAll(start);
  afterAll(stop);

  it('exists while there is a Lumigo or an opt-in by label to clean up', async () => {
    const { testCluster } = operator;
    await waitForProtected(operator, false);
    const namespace = await instrumentedAndProtected(operator);
    await testCluster.deleteLumigo(namespace);
    await waitForProtected(operator, false);
    await testCluster.create(
      createWorkload(deployment, namespace, 'alone', { labels: { [labels.autoTrace]: 'true' } }),
    );
    await waitForProtected(operator, true);
  });

  it('is removed with the last manager, so that nothing waits for a missing one', async () => {
    await instrumentedAndProtected(operator);
    const another = await operator.startAnother();
    await operator.stopManager();
    await eventually(async () => {
      if ((await another.metric('lumigo_operator_leader')) !== 1) throw new Error('the other one does not lead yet');
    });
    await waitForProtected(operator, true);
    await another.stop();
    expect(await protection(operator)).toEqual([false, false, false]);
    await operator.startManager();
  });

  it('removes no injection if only the account or only the Deployment was deleted', async () => {
    const { testCluster, cluster, installation } = operator;
    const namespace = await instrumentedAndProtected(operator);
    const [deployed] = installation.manifests.filter(({ kind }) => kind === 'Deployment');
    if (deployed !== undefined) await cluster.client.delete(toRef(deployed));
    await operator.stopManager();
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(true);
    if (deployed !== undefined) await apply(cluster.client, deployed);
    await operator.startManager();
    await waitForProtected(operator, true);
    const [account] = installation.manifests.filter(({ kind }) => kind === 'ServiceAccount');
    if (account !== undefined) await cluster.client.delete(toRef(account));
    await operator.stopManager();
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(true);
    expect((await testCluster.readLumigo(namespace)).metadata.deletionTimestamp).toBeUndefined();
  });
});

describe('the cleanup finalizer in a removal', () => {
  beforeEach(start);
  afterEach(stop);

  it('keeps the operator able to clean up when all its objects are deleted at once [D42, F41]', async () => {
    const { testCluster, cluster, installation } = operator;
    const namespace = await testCluster.instrumented('shop');
    const alone = await testCluster.namespace('alone');
    await testCluster.create(createWorkload(deployment, alone, 'app', { labels: { [labels.autoTrace]: 'true' } }));
    await testCluster.waitForInstrumented(deployment, alone, 'app');
    await waitForProtected(operator, true);
    await destroy(cluster, [installation.manifests], () => operator.stopManager());
    for (const each of [namespace, alone])
      expect(await testCluster.isInstrumented(deployment, each, 'app')).toBe(false);
    expect(await testCluster.label(deployment, alone, 'app')).toBe('true');
  });

  it('keeps it able to when its namespace is deleted and nothing else [D42]', async () => {
    const { testCluster, cluster, installation } = operator;
    const namespace = await instrumentedAndProtected(operator);
    const own = installation.manifests.filter(({ kind }) => kind === 'Namespace');
    for (const { metadata } of own) await cluster.client.delete({ ...namespaces, name: metadata.name });
    await operator.stopManager();
    for (const each of own) await waitForDeletion(cluster, each);
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(false);
    await expect(testCluster.readLumigo(namespace)).rejects.toThrow('not found');
    await destroy(cluster, [installation.manifests], () => Promise.resolve());
  });

  it('keeps it able to if Argo CD deletes wave by wave [D42]', async () => {
    const { testCluster, cluster, installation } = operator;
    const namespace = await instrumentedAndProtected(operator);
    const getWave = ({ metadata }: Manifest): number =>
      Number(metadata.annotations?.['argocd.argoproj.io/sync-wave'] ?? '0');
    const waves = [1, 0, -1].map((wave) => installation.manifests.filter((each) => getWave(each) === wave));
    expect(waves.flat().length).toBe(installation.manifests.length);
    await destroy(cluster, waves, () => operator.stopManager());
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(false);
  });

  it('delays a removal only while the manager runs, also if a workload refuses changes [D42]', async () => {
    const { testCluster, cluster, installation } = operator;
    const namespace = await instrumentedAndProtected(operator);
    await operator.refuseChanges(namespace, { app: 'app' });
    await destroy(cluster, [installation.manifests], () => operator.stopManager());
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(true);
  });

  it('is released from any machine if all its objects were deleted and no manager was left [D42]', async () => {
    const { testCluster, cluster, installation } = operator;
    const namespace = await instrumentedAndProtected(operator);
    await operator.killManager();
    const removal = destroy(cluster, [installation.manifests], () => Promise.resolve());
    const { code, stderr } = await runCommand(
      ['uninstall', '--deadline', '60', '--kubeconfig', cluster.kubeconfig],
      {},
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    await removal;
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(false);
  });

  it('is released by `lumigo uninstall` if a manager was killed', async () => {
    const { cluster, installation, testCluster } = operator;
    const namespace = await instrumentedAndProtected(operator);
    await operator.killManager();
    const { name, namespace: own } = installation.settings;
    const lease = {
      ...kinds.leases,
      namespace: own,
      name: `${name}-leader`,
    };
    await cluster.client.patch(lease, { kind: 'merge', body: { spec: { holderIdentity: '' } } });
    const { code, stderr } = await runInContainer(cluster, installation, ['uninstall', '--deadline', '30']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(await protection(operator)).toEqual([false, false, false]);
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(false);
  });
});
