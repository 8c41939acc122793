import { lumigo as contract } from '../../runtime/contract.ts';
import { ask } from '../node/ask.ts';
import { deployment, pythonImage, service } from '../node/apps.ts';
import { apply } from '../manager/apply.ts';
import { isInstrumented } from '../lumigo.ts';
import { getAddress, isReady, getPods, type NodeWithSink, type PodView } from '../node/operator.ts';
import { collectedObject, type Received } from '../otlp-sink/sink.ts';
import { eventually } from '../testing/eventually.ts';
import type { Printer } from './printer.ts';
import { demoLumigo, demoNamespace, namespace, secret } from './workloads.ts';

const patience = { timeoutMs: 60_000, intervalMs: 500 };
const apps = ['front', 'stock'] as const;

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
  printer.step(`a shop runs without tracing code: ${pods.map(getName).join(' (Node.js) and ')} (Python)`);
}

export async function traceShop(demo: NodeDemo): Promise<string[]> {
  const { system, printer } = demo;
  const { node } = system;
  await apply(node.client, secret);
  await apply(node.client, demoLumigo);
  printer.step('a Lumigo is created');
  const pods = await waitForPods(node, isInstrumented).catch(() => undefined);
  if (pods === undefined) return ['no instrumented pods replaced the pods of the shop within a minute'];
  for (const pod of pods) printer.instrumented(getName(pod), 'replaced, with the injection');
  printer.step('requests arrive at the shop');
  return printTraces(demo);
}

async function printTraces({ system, printer }: NodeDemo): Promise<string[]> {
  const url = await getAddress(system.node.client, demoNamespace, 'front');
  const traces = new TracePrinter(printer);
  let count = 0;
  const printNew = async (): Promise<void> => {
    await ask(url).catch(() => undefined);
    const received = await system.sink.received();
    for (const each of received.slice(count)) traces.print(each);
    count = received.length;
    if (apps.some((app) => traces.countSpans(app) < SHOWN_SPANS)) throw new Error('some spans are missing');
  };
  await eventually(printNew, patience).catch(() => undefined);
  printer.step(traces.sum());
  const silent = apps.filter((app) => traces.countSpans(app) === 0);
  return silent.map((app) => `no span of '${app}' arrived within ${patience.timeoutMs / 1_000} s`);
}

const SHOWN_SPANS = 3;
const SHOWN_EVENTS = 8;

class TracePrinter {
  private readonly spans = new Map<string, number>();
  private events = 0;
  private objects = 0;

  constructor(private readonly printer: Printer) {}

  print(received: Received): void {
    const [object] = collectedObject(received);
    if (object === undefined) this.tellSpan(received);
    else if (object.resource === 'events') this.tellEvent(object.object);
    else this.objects += 1;
  }

  countSpans(app: string): number {
    return this.spans.get(app) ?? 0;
  }

  sum(): string {
    const spans = [...this.spans.values()].reduce((all, one) => all + one, 0);
    return `received with the token of this namespace: ${spans} spans, ${this.events} Kubernetes events, ${this.objects} object versions`;
  }

  private tellSpan({ signal, resource, item }: Received): void {
    if (signal !== 'traces' || !('spanId' in item)) return;
    // The kubelet's probes create spans as well.
    if (String(item.attributes['http.target'] ?? '').startsWith('/healthz')) return;
    const app = String(resource['service.name']);
    this.spans.set(app, this.countSpans(app) + 1);
    if (this.countSpans(app) > SHOWN_SPANS) return;
    const { 'k8s.pod.name': pod, 'k8s.deployment.name': owner, 'k8s.namespace.name': where } = resource;
    this.printer.arrived(
      `span ${item.name}`,
      `service ${app}, deployment ${String(owner)}, pod ${String(pod)}, namespace ${String(where)}`,
    );
  }

  private tellEvent(object: { readonly [field: string]: unknown }): void {
    this.events += 1;
    if (this.events > SHOWN_EVENTS) return;
    const { kind = '', name = '' } = (object['involvedObject'] ?? {}) as { kind?: string; name?: string };
    this.printer.arrived(`event ${String(object['reason'])}`, `${kind}/${name}`);
  }
}

export async function untraceShop({ system: { node }, printer }: NodeDemo): Promise<string[]> {
  await node.client.delete({ ...contract, namespace: demoNamespace, name: 'lumigo' });
  printer.step('the Lumigo is deleted');
  const pods = await waitForPods(node, (pod) => !isInstrumented(pod)).catch(() => undefined);
  if (pods === undefined) return ['no pods without the injection replaced the pods of the shop within a minute'];
  for (const pod of pods) printer.instrumented(getName(pod), 'replaced, without the injection');
  return [];
}

const waitForPods = (node: NodeWithSink['node'], fits: (pod: PodView) => boolean): Promise<PodView[]> =>
  eventually(async () => {
    const pods = await getPods(node, demoNamespace);
    if (pods.length !== apps.length || !pods.every((pod) => isReady(pod) && fits(pod)))
      throw new Error('the pods of the shop did not reach the expected state');
    return pods.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }, patience);

const getName = ({ metadata }: PodView): string => metadata.name;
