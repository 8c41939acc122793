import { fileURLToPath } from 'node:url';
import { whenAnswering } from '../control-plane/processes.ts';
import { RemoteSink } from '../otlp-sink/remote.ts';
import type { NodeCluster } from './node.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const PORT = 4318;
const READY_MS = 20_000;

/** Starts a sink in the node's network, where pods can reach it and this machine too. */
export async function startSink(node: NodeCluster): Promise<RemoteSink> {
  const host = node.slot.nodeAddress;
  const running = node.launchInNode({
    name: 'sink',
    path: 'sh',
    args: [
      '-c',
      'cd "$1" && exec "$2" --import tsx sandbox/otlp-sink/main.ts "$3" "$4"',
      'sink',
      repository,
      process.execPath,
      host,
      String(PORT),
    ],
    folder: node.dir,
    guardian: node.guardian,
  });
  const sink = new RemoteSink(`http://${host}:${PORT}`);
  await whenAnswering({ complaint: 'the sink did not answer', withinMs: READY_MS, processes: [running] }, () =>
    sink.received().then(
      () => true,
      () => false,
    ),
  );
  return sink;
}
