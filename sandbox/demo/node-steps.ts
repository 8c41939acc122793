import { lumigo as contract } from '../../runtime/contract.ts';
import { ask } from '../node/ask.ts';
import { deployment, pythonImage, service } from '../node/apps.ts';
import { apply } from '../manager/apply.ts';
import { isInstrumented } from '../lumigo.ts';
import { getAddress, isReady, getPods, type NodeWithSink, type PodView } from '../node/operator.ts';
import type { SpanItem } from '../otlp-sink/decode.ts';
import { collectedObject, type Received } from '../otlp-sink/sink.ts';
import { eventually } from '../testing/eventually.ts';
import type { Printer } from './printer.ts';
import { getInvolved } from './telemetry.ts';
import { demoLumigo, demoNamespace, namespace, secret } from './workloads.ts';

const patience = { timeoutMs: 60_000, intervalMs: 500 };
const apps = ['front', 'stock'] as const;
/** Spans of each app. */
const SHOWN_SPANS = 3;
const SHOWN_EVENTS = 8;

export interface NodeDemo {
  readonly system: NodeWithSink;
  readonly printer: Printer;
}

export async function deployShop({ system: { node }, printer }: NodeDemo): Promise<void> {
  const backend = { name: 'BACKEND', value: `http://stock.${demoNamespace}.svc.cluster.local/` };
  for (const object of [
    namespace,
    deployment(demoNamespace, 'front', { env: [backend] }),
    service(demoNamespace, 'front'),
    deployment(demoNamespace, 'stock', { image: pythonImage }),
    service(demoNamespace, 'stock'),
  ])
    await apply(node.client, object);
  const pods = await waitForPods(node, (pod) => !isInstrumented(pod));
  const names = pods.map(({ metadata }) => metadata.name);
  printer.step(`a shop runs without tracing code: ${names.join(' (Node.js) and ')} (Python)`);
}

/** Creates the `Lumigo` of the shop, and its Secret. */
export async function createLumigo({ client }: NodeWithSink['node']): Promise<void> {
  await apply(client, secret);
  await apply(client, demoLumigo);
}

export async function traceShop(demo: NodeDemo): Promise<string[]> {
  const { system, printer } = demo;
  const { node } = system;
  await createLumigo(node);
  printer.step('a Lumigo is created');
  const pods = await waitForPods(node, isInstrumented).catch(() => undefined);
  if (pods === undefined) return ['no instrumented pods replaced the pods of the shop within a minute'];
  for (const { metadata } of pods) printer.instrumented(metadata.name, 'replaced, with the injection');
  printer.step('requests arrive at the shop');
  return printTraces(demo);
}

async function printTraces({ system: { node, sink }, printer }: NodeDemo): Promise<string[]> {
  const url = await getAddress(node.client, demoNamespace, 'front');
  let arrived = sortOut([]);
  const printNew = async (): Promise<void> => {
    await ask(url).catch(() => undefined);
    const before = arrived;
    arrived = sortOut(await sink.received());
    for (const app of apps)
      for (const span of arrived.spansOf(app).slice(before.spansOf(app).length, SHOWN_SPANS)) printSpan(span, printer);
    for (const event of arrived.events.slice(before.events.length, SHOWN_EVENTS))
      printer.arrived(`event ${String(event.object['reason'])}`, getInvolved(event));
    if (apps.some((app) => arrived.spansOf(app).length < SHOWN_SPANS)) throw new Error('some spans are missing');
  };
  await eventually(printNew, patience).catch(() => undefined);
  const { spans, spansOf, events, objects } = arrived;
  printer.step(
    `received with the token of this namespace: ${spans.length} spans, ${events.length} Kubernetes events, ${objects.length} object versions`,
  );
  const silent = apps.filter((app) => spansOf(app).length === 0);
  return silent.map((app) => `no span of '${app}' arrived within ${patience.timeoutMs / 1_000} s`);
}

function sortOut(received: readonly Received[]) {
  const collected = received.flatMap(collectedObject);
  // The kubelet's probes create spans as well.
  const isOfProbe = ({ item }: Received) => String(item.attributes['http.target'] ?? '').startsWith('/healthz');
  const spans = received.filter((each) => each.signal === 'traces' && !isOfProbe(each));
  return {
    spans,
    spansOf: (app: string) => spans.filter(({ resource }) => resource['service.name'] === app),
    events: collected.filter(({ resource }) => resource === 'events'),
    objects: collected.filter(({ resource }) => resource !== 'events'),
  };
}

function printSpan({ resource, item }: Received, printer: Printer): void {
  const { 'service.name': app, 'k8s.deployment.name': owner, 'k8s.pod.name': pod, 'k8s.namespace.name': of } = resource;
  printer.arrived(
    `span ${(item as SpanItem).name}`,
    `service ${String(app)}, deployment ${String(owner)}, pod ${String(pod)}, namespace ${String(of)}`,
  );
}

export async function untraceShop({ system: { node }, printer }: NodeDemo): Promise<string[]> {
  await node.client.delete({ ...contract, namespace: demoNamespace, name: 'lumigo' });
  printer.step('the Lumigo is deleted');
  const pods = await waitForPods(node, (pod) => !isInstrumented(pod)).catch(() => undefined);
  if (pods === undefined) return ['no pods without the injection replaced the pods of the shop within a minute'];
  for (const { metadata } of pods) printer.instrumented(metadata.name, 'replaced, without the injection');
  return [];
}

const waitForPods = (node: NodeWithSink['node'], fits: (pod: PodView) => boolean): Promise<PodView[]> =>
  eventually(async () => {
    const pods = await getPods(node, demoNamespace);
    if (pods.length !== apps.length || !pods.every((pod) => isReady(pod) && fits(pod)))
      throw new Error('the pods of the shop did not reach the expected state');
    return pods.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }, patience);
