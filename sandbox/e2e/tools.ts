import { join } from 'node:path';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { ensureBinaries } from '../programs/build.ts';
import { run, runMeanwhile } from '../run.ts';

export const setting = (values: Readonly<Record<string, string>>): string[] =>
  Object.entries(values).flatMap(([key, value]) => ['--set', `${key}=${value}`]);

export const getInitContainers = (kubectl: Tool, namespace: string, name: string): string =>
  kubectl('get', 'deployment', name, '-n', namespace, '-o', 'jsonpath={.spec.template.spec.initContainers[*].name}');

/** Returns the operator's objects of the cluster that still exist. @param more further arguments of `kubectl get` */
export const getLeft = (kubectl: Tool, ...more: readonly (readonly string[])[]): string[] =>
  [['crd,mutatingwebhookconfiguration,clusterrole,clusterrolebinding,priorityclass'], ...more]
    .flatMap((args) => kubectl('get', ...args, '-o', 'name').split('\n'))
    .filter((name) => name.includes('lumigo'));

/** Runs a user's program against a cluster. Returns its output. @throws Error with its complaint */
export interface Tool {
  (...args: readonly string[]): string;
  meanwhile(...args: readonly string[]): Promise<string>;
}

export async function toolOn(
  cluster: Pick<ControlPlane, 'dir' | 'kubeconfig'>,
  name: 'helm' | 'kubectl',
  ...flags: readonly string[]
): Promise<Tool> {
  const program = (await ensureBinaries([name]))[name] ?? '';
  const all = (args: readonly string[]) => [...flags, '--kubeconfig', cluster.kubeconfig, ...args];
  // Helm neither reads nor leaves files of this machine's user.
  const homes = ['CACHE', 'CONFIG', 'DATA'].map((kind) => [`HELM_${kind}_HOME`, join(cluster.dir, `helm-${kind}`)]);
  const env = { ...process.env, ...Object.fromEntries(homes) };
  return Object.assign((...args: readonly string[]) => run(program, all(args), { env }), {
    meanwhile: (...args: readonly string[]) => runMeanwhile(program, all(args), { env }),
  });
}
