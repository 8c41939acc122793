import { join } from 'node:path';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { ensureBinaries } from '../programs/build.ts';
import { run, runMeanwhile } from '../run.ts';

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
  return Object.assign((...args: readonly string[]) => run(program, all(args), { env }), {
    meanwhile: (...args: readonly string[]) => runMeanwhile(program, all(args), { env }),
  });
}
