import { fileURLToPath } from 'node:url';
import type { Running } from '../control-plane/processes.ts';
import { RemoteSink } from '../otlp-sink/remote.ts';
import { eventually } from '../testing/eventually.ts';
import type { NodeCluster } from './node.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** Runs a program of this repository in the node's network, where pods can reach it and this machine too. */
export function runInNode(node: NodeCluster, name: string, script: string, args: readonly string[]): Running {
  const { dir: folder, reaper } = node;
  const program = [process.execPath, '--import', 'tsx', script, ...args];
  const inRepository = ['-c', 'cd "$1" && shift && exec "$@"', name, repository, ...program];
  return node.launchInNode({ name, path: 'sh', args: inRepository, folder, reaper });
}

const PORT = 4318;
const READY_MS = 20_000;

/** Starts a sink in the node's network, where pods can reach it and this machine too. */
export async function startSink(node: NodeCluster): Promise<RemoteSink> {
  const host = node.slot.nodeAddress;
  const running = runInNode(node, 'sink', 'sandbox/otlp-sink/main.ts', [host, String(PORT)]);
  const sink = new RemoteSink(`http://${host}:${PORT}`);
  const complaint = 'the sink did not answer';
  await eventually(() => sink.received(), { complaint, timeoutMs: READY_MS, processes: [running] });
  return sink;
}
