import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
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
  let dead: string | undefined;
  void running.died.then((said) => (dead = said));
  const sink = new RemoteSink(`http://${host}:${PORT}`);
  for (const deadline = Date.now() + READY_MS; Date.now() < deadline; await sleep(100)) {
    if (dead !== undefined) throw new Error(dead);
    const answers = await sink.received().then(
      () => true,
      () => false,
    );
    if (answers) return sink;
  }
  throw new Error(`the sink did not answer within ${READY_MS / 1_000} s`);
}
