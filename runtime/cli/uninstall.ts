import { variables } from '../config/document.ts';
import { findInstalled } from '../installation/installation.ts';
import { protectedObjects, release, releaseAll } from '../uninstall/protected-objects.ts';
import { hasSuccessor } from '../uninstall/signs.ts';
import { uninstall } from '../uninstall/uninstall.ts';
import { inCluster } from './cluster.ts';
import type { Invocation } from './invocation.ts';

interface Flags {
  readonly deadline: number;
}

/** The chart's hook runs this command, too. */
export const run = (invocation: Invocation<Flags>): Promise<void> =>
  inCluster(invocation, async ({ client }) => {
    const { environment, print, flags } = invocation;
    const installed = await findInstalled(client, environment);
    const isInContainer = environment[variables.config] !== undefined;
    if (isInContainer && installed !== undefined && (await hasSuccessor(client, installed))) {
      print(
        'Another installation of the Lumigo operator is in this cluster. The Lumigo resources and injections stay.',
      );
      return release(client, protectedObjects(installed));
    }
    const deadline = Date.now() + flags.deadline * 1_000;
    const stuck = [...(await uninstall({ client, installed, deadline, print }))];
    // A manager retries the stuck ones, and needs its account and rights for that.
    if (stuck.length > 0 && installed !== undefined)
      print('The operator keeps its ServiceAccount and permissions until everything is removed.');
    else if (isInContainer && installed !== undefined) await release(client, protectedObjects(installed));
    else stuck.push(...(await releaseAll(client, print)));
    if (stuck.length > 0)
      throw new Error(
        `not everything could be removed in ${flags.deadline} s:\n${stuck.map((line) => `  ${line}`).join('\n')}`,
      );
  });
