import { setTimeout as sleep } from 'node:timers/promises';
import { collectedObject, type CollectedObject, type OtlpSink } from '../otlp-sink/sink.ts';
import type { DemoCluster } from './cluster.ts';
import type { Printer } from './printer.ts';
import { demoNamespace } from './workloads.ts';

const TOGETHER_MS = 1_000;
const PATIENCE_MS = 20_000;

export function printArrivals(sink: OtlpSink, printer: Printer): { stop(): void } {
  const versions = new Map<string, number>();
  sink.onReceived = (received) => {
    for (const object of collectedObject(received)) {
      if (object.resource !== 'events') versions.set(object.resource, (versions.get(object.resource) ?? 0) + 1);
      else if (object.change !== 'DELETED')
        printer.arrived(describeObject(object), `Kubernetes event: ${String(object.object['reason'])}`);
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

function describeObject({ object: { involvedObject } }: CollectedObject): string {
  const { kind = '', name = '' } = (involvedObject ?? {}) as { kind?: string; name?: string };
  return `${kind}/${name}`;
}

export async function waitForCollected({ sink, manager }: DemoCluster): Promise<string[]> {
  // The collector is still being built, and joins later.
  if (manager.collector === undefined) return [];
  const deadline = Date.now() + PATIENCE_MS;
  for (; Date.now() < deadline; await sleep(100)) {
    const ours = sink.objects.filter(({ namespace }) => namespace === demoNamespace);
    const kinds = new Set(ours.map(({ resource }) => resource));
    const foreign = sink.objects.filter(({ namespace }) => namespace !== demoNamespace);
    if (foreign.length > 0) return [`objects of namespace '${foreign[0]?.namespace}' were sent, but it has no Lumigo`];
    if (kinds.has('events') && kinds.has('deployments')) return [];
  }
  return [`no Kubernetes events and objects of '${demoNamespace}' arrived within ${PATIENCE_MS / 1_000} s`];
}
