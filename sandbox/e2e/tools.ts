import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { ensureBinaries } from '../programs/build.ts';
import { finished } from '../testing/run.ts';

/** The flags by which Helm is given values. */
export const setting = (values: Readonly<Record<string, string>>): string[] =>
  Object.entries(values).flatMap(([key, value]) => ['--set', `${key}=${value}`]);

/** The names of a Deployment's init containers; empty where it has none. */
export const initContainersOf = (kubectl: Tool, namespace: string, name: string): string =>
  kubectl('get', 'deployment', name, '-n', namespace, '-o', 'jsonpath={.spec.template.spec.initContainers[*].name}');

/** A program of users, run against a cluster: gives back what it prints, or throws what it complains of. */
export interface Tool {
  (...args: readonly string[]): string;
  /** The same, while other things go on. */
  meanwhile(...args: readonly string[]): Promise<string>;
}

export async function toolOn(
  cluster: Pick<ControlPlane, 'dir' | 'kubeconfig'>,
  name: 'helm' | 'kubectl',
  ...flags: readonly string[]
): Promise<Tool> {
  const program = (await ensureBinaries([name]))[name] ?? '';
  const all = (args: readonly string[]) => [...args, ...flags, '--kubeconfig', cluster.kubeconfig];
  // Nothing of this machine's user, and nothing left for him.
  const homes = ['CACHE', 'CONFIG', 'DATA'].map((kind) => [`HELM_${kind}_HOME`, join(cluster.dir, `helm-${kind}`)]);
  const env = { ...process.env, ...Object.fromEntries(homes) };
  const printed = (args: readonly string[], code: number | null, stdout: string, stderr: string): string => {
    if (code !== 0) throw new Error(`${name} ${args.join(' ')}: ${stderr}`);
    return stdout;
  };
  const tool = (...args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(program, all(args), {
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      env,
    });
    return printed(args, status, stdout, stderr);
  };
  const meanwhile = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await finished(spawn(program, all(args), { env }));
    return printed(args, code, stdout, stderr);
  };
  return Object.assign(tool, { meanwhile });
}
