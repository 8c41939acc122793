import { randomBytes } from 'node:crypto';
import { Bench, validToken } from '../sandbox/testing/bench.ts';
import type { Client } from '../runtime/kubernetes/http/client.ts';
import { guarded } from '../runtime/kubernetes/http/client.ts';
import { isNotFound } from '../runtime/kubernetes/http/errors.ts';
import type { ResourceRef } from '../runtime/kubernetes/http/paths.ts';
import { labels, lumigo, workloads } from '../runtime/contract.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { sampleReview } from './review.ts';

const [deployment] = workloads;
/** As many writes under way as the operator has by default. */
const IN_FLIGHT = 16;
const LOOK_MS = 50;

async function inFlight<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const queue = items[Symbol.iterator]();
  const worker = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
}

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `app-${index}`);

interface Sample {
  readonly request: { readonly object: { metadata: object; spec: { template: { metadata: object } } } };
}

/** A namespace with `count` Deployments of the size of the sample review's, none of them with a pod. */
export async function makeFleet(client: Client, count: number): Promise<string> {
  const namespace = await new Bench(client).namespace(`fleet-${randomBytes(3).toString('hex')}`);
  const { object } = (JSON.parse(sampleReview(namespace)) as Sample).request;
  await inFlight(names(count), (name) =>
    client.create({ ...deployment, namespace }, {
      ...object,
      metadata: { ...object.metadata, name },
      spec: { ...object.spec, replicas: 0 },
    } as never),
  );
  return namespace;
}

/** The floor: one guarded JSON patch for each of them, and nothing else. Seconds. */
export async function patchLoop(client: Client, namespace: string): Promise<number> {
  const versions = new Map<string, string>();
  for await (const { items } of client.pages({ ...deployment, namespace }, { metadataOnly: true }))
    for (const { metadata } of items) versions.set(metadata.name, metadata.resourceVersion);
  const value = { note: 'x'.repeat(600) };
  const started = performance.now();
  await inFlight([...versions], ([name, version]) =>
    client.patch(
      { ...deployment, namespace, name },
      guarded(version, [{ op: 'add', path: '/spec/template/metadata/annotations', value }]),
      { metadataOnly: true },
    ),
  );
  return (performance.now() - started) / 1_000;
}

/** Its one. */
export const lumigoOf = (namespace: string): ResourceRef => ({ ...lumigo, namespace, name: 'lumigo' });

/** From the creation of the Lumigo until its status says that all are instrumented. Seconds. */
export async function instrumentFleet(client: Client, namespace: string, count: number): Promise<number> {
  const bench = new Bench(client);
  await bench.secret(namespace, validToken);
  const started = performance.now();
  await bench.lumigo(namespace);
  for (;;) {
    const { status } = await bench.readLumigo(namespace);
    const active = status?.conditions?.find(({ type }) => type === 'Active');
    if (status?.instrumentedResourcesCount === count && active?.message === 'Lumigo is ready') break;
    await sleep(LOOK_MS);
  }
  return (performance.now() - started) / 1_000;
}

/** Seconds from the deletion of a Lumigo. */
interface Removal {
  /** Until no workload carries an injection: what corresponds to the end of instrumenting, whose events are posted beside it as well. */
  readonly clean: number;
  /** Until all is told and the Lumigo is gone. */
  readonly gone: number;
}

export async function uninstrumentFleet(client: Client, namespace: string): Promise<Removal> {
  const started = performance.now();
  const since = () => (performance.now() - started) / 1_000;
  const ref = lumigoOf(namespace);
  await client.delete(ref);
  const clean = await untilNone(client, namespace, labels.autoTrace);
  while (await isThere(client, ref)) await sleep(LOOK_MS);
  return { clean, gone: since() };
}

/** Selects the workloads without an injection, as `labels.autoTrace` those with one. */
export const notInstrumented = `!${labels.autoTrace}`;

/** Seconds until the selector finds no Deployment of the namespace any more. */
export async function untilNone(client: Client, namespace: string, labelSelector: string): Promise<number> {
  const started = performance.now();
  while (await isAny(client, namespace, labelSelector)) await sleep(LOOK_MS);
  return (performance.now() - started) / 1_000;
}

async function isAny(client: Client, namespace: string, labelSelector: string): Promise<boolean> {
  const one = { labelSelector, limit: 1, metadataOnly: true };
  for await (const { items } of client.pages({ ...deployment, namespace }, one)) return items.length > 0;
  return false;
}

const isThere = (client: Client, ref: ResourceRef): Promise<boolean> =>
  client.get(ref, { metadataOnly: true }).then(
    () => true,
    (error: unknown) => {
      if (isNotFound(error)) return false;
      throw error;
    },
  );
