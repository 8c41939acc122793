import { randomBytes } from 'node:crypto';
import { forEachConcurrent } from '../runtime/async/for-each-concurrent.ts';
import { TestCluster, validToken } from '../sandbox/testing/test-cluster.ts';
import { guarded, listAll, type Client } from '../runtime/kubernetes/http/client.ts';
import { labels, lumigo, workloadKinds } from '../runtime/contract.ts';
import { eventually } from '../sandbox/testing/eventually.ts';
import { sampleReview } from './review.ts';

const { deployment } = workloadKinds;
/** The number is the operator's default. */
const IN_FLIGHT = 16;
const patience = { intervalMs: 50, timeoutMs: 600_000 };

interface Sample {
  readonly request: { readonly object: { metadata: object; spec: { template: { metadata: object } } } };
}

/** Creates a namespace with Deployments of the sample review's size, without pods. */
export async function makeFleet(client: Client, count: number): Promise<string> {
  const namespace = await new TestCluster(client).namespace(`fleet-${randomBytes(3).toString('hex')}`);
  const names = Array.from({ length: count }, (_, index) => `app-${index}`);
  const { object } = (JSON.parse(sampleReview(namespace)) as Sample).request;
  await forEachConcurrent(IN_FLIGHT, names, async (name) => {
    const made = { ...object, metadata: { ...object.metadata, name }, spec: { ...object.spec, replicas: 0 } };
    await client.create({ ...deployment, namespace }, made as never);
  });
  return namespace;
}

/** Returns the lower bound in seconds: a guarded JSON patch for each Deployment, and nothing else. */
export async function patchLoop(client: Client, namespace: string): Promise<number> {
  const fleet = await listAll(client, { ...deployment, namespace }, { metadataOnly: true });
  const value = { note: 'x'.repeat(600) };
  const started = performance.now();
  await forEachConcurrent(IN_FLIGHT, fleet, async ({ metadata: { name, resourceVersion } }) => {
    const patch = guarded(resourceVersion, [{ op: 'add', path: '/spec/template/metadata/annotations', value }]);
    await client.patch({ ...deployment, namespace, name }, patch, { metadataOnly: true });
  });
  return (performance.now() - started) / 1_000;
}

/** Returns the seconds from the creation of the `Lumigo` until its status counts all Deployments. */
export async function instrumentFleet(client: Client, namespace: string, count: number): Promise<number> {
  const testCluster = new TestCluster(client);
  await testCluster.secret(namespace, validToken);
  const started = performance.now();
  await testCluster.lumigo(namespace);
  await eventually(async () => {
    const { status } = await testCluster.readLumigo(namespace);
    const active = status?.conditions?.find(({ type }) => type === 'Active');
    if (status?.instrumentedResourcesCount !== count || active?.message !== 'Lumigo is ready')
      throw new Error(`${status?.instrumentedResourcesCount} of ${count} are instrumented: ${active?.message}`);
  }, patience);
  return (performance.now() - started) / 1_000;
}

/** Returns seconds after the deletion of the `Lumigo`: `clean` until no workload has an injection, and `gone` until it no longer exists. */
export async function uninstrumentFleet(client: Client, namespace: string) {
  const started = performance.now();
  const ref = { ...lumigo, namespace, name: 'lumigo' };
  await client.delete(ref);
  const clean = await untilNone(client, namespace, labels.autoTrace);
  await eventually(async () => {
    if ((await client.find(ref, { metadataOnly: true })) !== undefined) throw new Error('the Lumigo is still there');
  }, patience);
  return { clean, gone: (performance.now() - started) / 1_000 };
}

export const notInstrumented = `!${labels.autoTrace}`;

export async function untilNone(client: Client, namespace: string, labelSelector: string): Promise<number> {
  const one = { labelSelector, limit: 1, metadataOnly: true };
  const started = performance.now();
  await eventually(async () => {
    const { value: page } = await client.pages({ ...deployment, namespace }, one).next();
    if (page !== undefined && page.items.length > 0) throw new Error(`Deployments with ${labelSelector} are left`);
  }, patience);
  return (performance.now() - started) / 1_000;
}
