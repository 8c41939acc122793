import { fileURLToPath } from 'node:url';
import type { Running } from '../control-plane/processes.ts';
import type { NodeCluster } from './node.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** Runs a program of this repository in the node's network, where pods can reach it and this machine too. */
export function runInNode(node: NodeCluster, name: string, script: string, args: readonly string[]): Running {
  const { dir: folder, reaper } = node;
  const program = [process.execPath, '--import', 'tsx', script, ...args];
  const inRepository = ['-c', 'cd "$1" && shift && exec "$@"', name, repository, ...program];
  return node.launchInNode({ name, path: 'sh', args: inRepository, folder, reaper });
}
