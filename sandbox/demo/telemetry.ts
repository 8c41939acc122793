import { collectedObject, type CollectedObject, type OtlpSink } from '../otlp-sink/sink.ts';
import { eventually } from '../testing/eventually.ts';
import type { DemoCluster } from './cluster.ts';
import type { Printer } from './printer.ts';
import { demoNamespace } from './workloads.ts';

const TOGETHER_MS = 1_000;

export function printArrivals(sink: OtlpSink, printer: Printer): { stop(): void } {
  const versions = new Map<string, number>();
  sink.onReceived = (received) => {
    for (const object of collectedObject(received)) {
      if (object.resource !== 'events') versions.set(object.resource, (versions.get(object.resource) ?? 0) + 1);
      else if (object.change !== 'DELETED')
        printer.arrived(getInvolved(object), `Kubernetes event: ${String(object.object['reason'])}`);
    }
  };
  const timer = setInterval(() => {
    if (versions.size === 0) return;
    const counts = [...versions].map(([plural, count]) => `${count} of ${plural}`);
    printer.arrived('object versions', counts.join(', '));
    versions.clear();
  }, TOGETHER_MS);
  timer.unref();
  return {
    stop() {
      clearInterval(timer);
      sink.onReceived = () => undefined;
    },
  };
}

/** Returns kind and name of an event's object. */
export function getInvolved({ object }: CollectedObject): string {
  const { kind = '', name = '' } = object.involvedObject ?? {};
  return `${kind}/${name}`;
}

export async function waitForCollected({ sink, manager }: DemoCluster): Promise<string[]> {
  // The collector is still being built, and joins later.
  if (manager.collector === undefined) return [];
  const complaint = `no Kubernetes events and objects of '${demoNamespace}' arrived`;
  const judge = (): string[] => {
    const foreign = sink.objects.find(({ namespace }) => namespace !== demoNamespace);
    if (foreign !== undefined) return [`objects of namespace '${foreign.namespace}' were sent, but it has no Lumigo`];
    const kinds = new Set(sink.objects.map(({ resource }) => resource));
    if (!kinds.has('events') || !kinds.has('deployments')) throw new Error(complaint);
    return [];
  };
  return eventually(judge, { complaint, intervalMs: 100 }).catch((error: Error) => [error.message]);
}
