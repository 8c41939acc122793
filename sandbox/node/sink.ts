import { whenAnswering } from '../control-plane/processes.ts';
import { RemoteSink } from '../otlp-sink/remote.ts';
import type { NodeCluster } from './node.ts';
import { runInNode } from './script.ts';

const PORT = 4318;
const READY_MS = 20_000;

/** Starts a sink in the node's network, where pods can reach it and this machine too. */
export async function startSink(node: NodeCluster): Promise<RemoteSink> {
  const host = node.slot.nodeAddress;
  const running = runInNode(node, 'sink', 'sandbox/otlp-sink/main.ts', [host, String(PORT)]);
  const sink = new RemoteSink(`http://${host}:${PORT}`);
  const awaited = { complaint: 'the sink did not answer', withinMs: READY_MS, processes: [running] };
  await whenAnswering(awaited, () => sink.received());
  return sink;
}
