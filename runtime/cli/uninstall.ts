import { fromEnvironment } from '../config/config.ts';
import { variables } from '../config/document.ts';
import { helmRelease, lumigo } from '../contract.ts';
import { getManager, type Installed } from '../installation/installation.ts';
import { createClient, type Client } from '../kubernetes/http/client.ts';
import { isForbidden, isNotFound } from '../kubernetes/http/errors.ts';
import { getAccount, protectedObjects, release, releaseAll } from '../uninstall/protected-objects.ts';
import { findOnly, hasSuccessor } from '../uninstall/signs.ts';
import { uninstall, type UninstallOptions } from '../uninstall/uninstall.ts';
import { printable } from '../wording/printable.ts';
import { withCluster, type Cluster } from './cluster.ts';
import type { Invocation } from './invocation.ts';
import { formatted, type OutputFlags } from './output.ts';

interface Flags extends OutputFlags {
  readonly deadline: number;
  readonly helmHook?: boolean;
}

type Printing = Invocation<Flags> & Pick<UninstallOptions, 'print'>;

/** The chart's hook runs this command, too. */
export const run = withCluster(async (cluster, invocation: Invocation<Flags>) => {
  const { flags, note, write } = invocation;
  const isTable = flags.output === 'table';
  const print = isTable ? (line: string) => write(printable(line)) : note;
  const stuck = await remove(cluster, { ...invocation, print });
  if (!isTable) write(await formatted(flags.output, { stuck }, String));
  if (stuck.length > 0)
    throw new Error(
      `not everything could be removed in ${flags.deadline} s:\n${stuck.map((line) => `  ${line}`).join('\n')}`,
    );
});

/** Returns a line for each object that is stuck. */
async function remove(cluster: Cluster, invocation: Printing): Promise<readonly string[]> {
  const { client } = cluster;
  const { environment, print, flags } = invocation;
  // Only the operator's own containers have its configuration.
  const own = environment[variables.config] === undefined ? undefined : fromEnvironment(environment);
  if (own !== undefined && (await isLeft(client, own, invocation))) return [];
  const installed = own ?? (await findOnly(client));
  if (own === undefined) print(`Removing from the cluster of ${cluster.connection.server.href}`);
  const options = { leases: client, installed, deadline: Date.now() + flags.deadline * 1_000, print };
  const removal = own === undefined ? uninstallAsManager(cluster, options) : uninstall({ ...options, client });
  const stuck = [...(await removal)];
  // A manager retries the stuck ones, and needs its account and rights for that.
  if (stuck.length > 0 && installed !== undefined)
    print('The operator keeps its ServiceAccount and permissions until everything is removed.');
  else if (own !== undefined) await release(client, protectedObjects(own));
  else stuck.push(...(await releaseAll(client, print)));
  return stuck;
}

async function isLeft(client: Client, installed: Installed, { flags: { helmHook }, print }: Printing) {
  const manager = helmHook === true ? await client.find(getManager(installed), { metadataOnly: true }) : undefined;
  // Tools that apply the output of `helm template` create the hook as an ordinary Job.
  if (manager !== undefined && manager.metadata.annotations?.[helmRelease] === undefined) {
    print('Helm did not install this operator, so nothing is removed. Use `helm template --no-hooks`.');
    return true;
  }
  if (!(await hasSuccessor(client, installed))) return false;
  if (helmHook === true)
    throw new Error(
      'another installation of the Lumigo operator is in this cluster, and `helm delete` would delete the Lumigo resources of both. See docs/operate/uninstall.md',
    );
  print('Another installation of the Lumigo operator is in this cluster. The Lumigo resources and injections stay.');
  await release(client, protectedObjects(installed));
  return true;
}

/** The webhook restores an injection that a workload asks for, unless the manager removes it. An administrator can act as it. */
async function uninstallAsManager({ client, connection, open }: Cluster, options: Omit<UninstallOptions, 'client'>) {
  const { installed, print } = options;
  if (installed === undefined) return uninstall({ ...options, client });
  const { namespace, name } = getAccount(installed);
  const user = `system:serviceaccount:${namespace}:${name}`;
  const transport = open({ ...connection.headers, 'Impersonate-User': user });
  const manager = createClient(transport);
  try {
    const refusal = await whyRefused(manager);
    if (refusal === undefined) return await uninstall({ ...options, client: manager });
    const isHelpless = !refusal.includes('impersonate');
    const cause = isHelpless ? "The operator's account has lost its rights" : 'You may not act as the operator';
    print(`${cause}, so workloads that ask for the injection can keep it.`);
    return await uninstall({ ...options, client, isHelpless });
  } finally {
    transport.close();
  }
}

async function whyRefused(manager: Client): Promise<string | undefined> {
  try {
    await manager.pages(lumigo, { limit: 1 }).next();
  } catch (error) {
    if (isForbidden(error)) return error.message;
    // Without the definition there is nothing to list.
    if (!isNotFound(error)) throw error;
  }
  return undefined;
}
