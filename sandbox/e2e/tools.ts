import { spawnSync } from 'node:child_process';
import type { NodeCluster } from '../node/node.ts';
import { ensureBinaries } from '../programs/build.ts';

/** A program of users, run against a node: gives back what it prints, or throws what it complains of. */
export type Tool = (...args: readonly string[]) => string;

export async function toolOn(node: NodeCluster, name: 'helm' | 'kubectl', ...flags: readonly string[]): Promise<Tool> {
  const program = (await ensureBinaries([name], () => undefined))[name] ?? '';
  return (...args) => {
    const all = [...args, ...flags, '--kubeconfig', node.kubeconfig];
    const { status, stdout, stderr } = spawnSync(program, all, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
    if (status !== 0) throw new Error(`${name} ${args.join(' ')}: ${stderr}`);
    return stdout;
  };
}
