import { forEachConcurrent } from '../runtime/async/for-each-concurrent.ts';
import type { TestCluster } from '../sandbox/testing/test-cluster.ts';
import { guarded, listAll } from '../runtime/kubernetes/http/client.ts';
import { labels, lumigo, workloadKinds } from '../runtime/contract.ts';
import { eventually } from '../sandbox/testing/eventually.ts';
import { sampleDeployment } from './review.ts';
import { countSeconds } from './table.ts';

const { deployment } = workloadKinds;
/** The number is the operator's default. */
const IN_FLIGHT = 16;
const patience = { intervalMs: 50, timeoutMs: 600_000 };

/** Creates a namespace with Deployments of the sample review's size, without pods. */
export async function makeFleet(testCluster: TestCluster, count: number): Promise<string> {
  const namespace = await testCluster.namespace('fleet');
  const names = Array.from({ length: count }, (_, index) => `app-${index}`);
  const sample = sampleDeployment(namespace);
  await forEachConcurrent(IN_FLIGHT, names, async (name) => {
    const { metadata, spec } = sample;
    await testCluster.create({ ...sample, metadata: { ...metadata, name }, spec: { ...spec, replicas: 0 } });
  });
  return namespace;
}

/** Returns the lower bound in seconds: a guarded JSON patch for each Deployment, and nothing else. */
export async function patchLoop({ client }: TestCluster, namespace: string): Promise<number> {
  const fleet = await listAll(client, { ...deployment, namespace }, { metadataOnly: true });
  const value = { note: 'x'.repeat(600) };
  return countSeconds(() =>
    forEachConcurrent(IN_FLIGHT, fleet, async ({ metadata: { name, resourceVersion } }) => {
      const patch = guarded(resourceVersion, [{ op: 'add', path: '/spec/template/metadata/annotations', value }]);
      await client.patch({ ...deployment, namespace, name }, patch, { metadataOnly: true });
    }),
  );
}

/** Returns the seconds from the creation of the `Lumigo` until its status counts all Deployments. */
export async function instrumentFleet(testCluster: TestCluster, namespace: string, count: number): Promise<number> {
  await testCluster.secret(namespace);
  return countSeconds(async () => {
    await testCluster.lumigo(namespace);
    await eventually(async () => {
      const { status } = await testCluster.readLumigo(namespace);
      const active = status?.conditions?.find(({ type }) => type === 'Active');
      if (status?.instrumentedResourcesCount !== count || active?.message !== 'Lumigo is ready')
        throw new Error(`${status?.instrumentedResourcesCount} of ${count} are instrumented: ${active?.message}`);
    }, patience);
  });
}

/** Returns seconds after the deletion of the `Lumigo`: `clean` until no workload has an injection, and `gone` until it no longer exists. */
export async function uninstrumentFleet(testCluster: TestCluster, namespace: string) {
  const ref = { ...lumigo, namespace, name: 'lumigo' };
  let clean = NaN;
  const gone = await countSeconds(async () => {
    await testCluster.client.delete(ref);
    clean = await countSeconds(() => waitForNone(testCluster, namespace, labels.autoTrace));
    await eventually(async () => {
      if ((await testCluster.client.find(ref, { metadataOnly: true })) !== undefined)
        throw new Error('the Lumigo is still there');
    }, patience);
  });
  return { clean, gone };
}

/** Waits until no Deployment has such a label. */
export async function waitForNone({ client }: TestCluster, namespace: string, labelSelector: string): Promise<void> {
  const one = { labelSelector, limit: 1, metadataOnly: true };
  await eventually(async () => {
    const { value: page } = await client.pages({ ...deployment, namespace }, one).next();
    if (page !== undefined && page.items.length > 0) throw new Error(`Deployments with ${labelSelector} are left`);
  }, patience);
}
