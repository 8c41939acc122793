import { fileURLToPath } from 'node:url';
import type { Running } from '../control-plane/processes.ts';
import type { NodeCluster } from './node.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** Runs a program of this repository in the node's network, where pods can reach it and this machine too. */
export const runInNode = (node: NodeCluster, name: string, script: string, args: readonly string[]): Running =>
  node.launchInNode({
    name,
    path: 'sh',
    args: [
      '-c',
      'cd "$1" && shift && exec "$@"',
      name,
      repository,
      process.execPath,
      '--import',
      'tsx',
      script,
      ...args,
    ],
    folder: node.dir,
    guardian: node.guardian,
  });
