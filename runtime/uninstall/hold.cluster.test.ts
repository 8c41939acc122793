import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { refOf } from '../../sandbox/manager/apply.ts';
import { runCommand, runInContainer } from '../../sandbox/manager/command.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { workloadOf } from '../../sandbox/testing/workloads.ts';
import { holdFinalizer, labels, lumigo as contract, workloads } from '../contract.ts';
import { isNotFound } from '../kubernetes/errors.ts';
import type { ResourceRef } from '../kubernetes/paths.ts';
import { heldObjects } from './hold.ts';

/** Whatever removes the operator, in whatever order: what it instrumented does not outlive it. */
let operator: OperatorBench;
beforeEach(async () => {
  operator = await startOperator();
});
afterEach(() => operator?.stop());

const [deployment] = workloads;

const held = () => {
  const { name, namespace } = operator.installation.settings;
  return heldObjects({ operatorName: name, operatorNamespace: namespace });
};

const holds = () =>
  Promise.all(
    held().map(async (ref) => {
      const { metadata } = await operator.cluster.client.get(ref);
      return metadata.finalizers?.includes(holdFinalizer) === true;
    }),
  );

const whenHeld = (expected: boolean) =>
  eventually(async () => {
    expect(await holds()).toEqual([expected, expected, expected]);
  });

async function whenGone(ref: ResourceRef): Promise<void> {
  await eventually(
    async () => {
      const found = await operator.cluster.client.get(ref).catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
      if (found !== undefined) throw new Error(`${ref.plural} ${ref.name}: ${JSON.stringify(found.metadata)}`);
    },
    { timeoutMs: 30_000 },
  );
}

async function instrumented(): Promise<string> {
  const { bench } = operator;
  const namespace = await bench.namespace('shop');
  await bench.activate(namespace);
  await bench.create(workloadOf(deployment, namespace, 'app'));
  await bench.whenInstrumented(deployment, namespace, 'app');
  return namespace;
}

const crd = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  name: `${contract.plural}.${contract.group}`,
};

describe('the hold on the operator’s account and rights', () => {
  it('is there while there is something to clean up: a Lumigo, or what was opted in by label', async () => {
    const { bench } = operator;
    await whenHeld(false);
    const namespace = await instrumented();
    await whenHeld(true);
    await bench.deleteLumigo(namespace);
    await whenHeld(false);
    await bench.create(workloadOf(deployment, namespace, 'alone', { labels: { [labels.autoTrace]: 'true' } }));
    await whenHeld(true);
  });

  it('ends with the last manager, so that nothing waits for one that there is not', async () => {
    await instrumented();
    await whenHeld(true);
    const another = await operator.startAnother();
    await operator.stopManager();
    await eventually(async () => {
      if ((await another.metric('lumigo_operator_leader')) !== 1) throw new Error('the other one does not lead yet');
    });
    await whenHeld(true);
    await another.stop();
    expect(await holds()).toEqual([false, false, false]);
  });

  it('D42: keeps the operator able to clean up when all its objects are deleted at once', async () => {
    const { bench, cluster, installation } = operator;
    const namespace = await instrumented();
    const alone = await bench.namespace('alone');
    await bench.create(workloadOf(deployment, alone, 'app', { labels: { [labels.autoTrace]: 'true' } }));
    await bench.whenInstrumented(deployment, alone, 'app');
    await whenHeld(true);
    for (const manifest of installation.manifests) await cluster.client.delete(refOf(manifest)).catch(ignoreMissing);
    await operator.stopManager();
    for (const manifest of installation.manifests) await whenGone(refOf(manifest));
    for (const each of [namespace, alone]) expect(await bench.isInstrumented(deployment, each, 'app')).toBe(false);
    expect(await bench.label(deployment, alone, 'app')).toBe('true');
  });

  it('D42: keeps it able to when its namespace is deleted and nothing else', async () => {
    const { bench, cluster, installation } = operator;
    const namespace = await instrumented();
    await whenHeld(true);
    const own = { group: '', version: 'v1', plural: 'namespaces', name: installation.settings.namespace };
    await cluster.client.delete(own);
    await operator.stopManager();
    await whenGone(own);
    expect(await bench.isInstrumented(deployment, namespace, 'app')).toBe(false);
    await expect(bench.readLumigo(namespace)).rejects.toThrow('not found');
    // What was left over goes without a manager, and the operator can be installed again.
    await cluster.client.delete(crd);
    await whenGone(crd);
  });

  it('D42: holds nothing for longer than the manager can last, also where a workload refuses to be changed', async () => {
    const { bench, cluster, installation } = operator;
    const namespace = await instrumented();
    await whenHeld(true);
    await operator.refuseChanges(namespace, { app: 'app' });
    for (const manifest of installation.manifests) await cluster.client.delete(refOf(manifest)).catch(ignoreMissing);
    await operator.stopManager();
    for (const manifest of installation.manifests) await whenGone(refOf(manifest));
    expect(await bench.isInstrumented(deployment, namespace, 'app')).toBe(true);
  });

  it('D42: where all its objects were deleted and no manager was left, is let go from anybody’s machine', async () => {
    const { bench, cluster, installation } = operator;
    const namespace = await instrumented();
    await whenHeld(true);
    await operator.killManager();
    for (const manifest of installation.manifests) await cluster.client.delete(refOf(manifest)).catch(ignoreMissing);
    const { code, stderr } = await runCommand(
      ['--uninstall', '--deadline', '60', '--kubeconfig', cluster.kubeconfig],
      {},
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const manifest of installation.manifests) await whenGone(refOf(manifest));
    expect(await bench.isInstrumented(deployment, namespace, 'app')).toBe(false);
  });

  it('is let go by --uninstall where a manager died without a word', async () => {
    const { cluster, installation, bench } = operator;
    const namespace = await instrumented();
    await whenHeld(true);
    await operator.killManager();
    const { name, namespace: own } = installation.settings;
    const lease = {
      group: 'coordination.k8s.io',
      version: 'v1',
      plural: 'leases',
      namespace: own,
      name: `${name}-leader`,
    };
    await cluster.client.patch(lease, { kind: 'merge', body: { spec: { holderIdentity: '' } } });
    const { code, stderr } = await runInContainer(cluster, installation, ['--uninstall', '--deadline', '30']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(await holds()).toEqual([false, false, false]);
    expect(await bench.isInstrumented(deployment, namespace, 'app')).toBe(false);
  });
});

function ignoreMissing(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
