import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Manifest } from '../../infra/manifests.ts';
import { lumigo } from '../../runtime/contract.ts';
import { createClient, type Client } from '../../runtime/kubernetes/http/client.ts';
import { undefinedIfNotFound } from '../../runtime/kubernetes/http/errors.ts';
import { fromKubeconfig } from '../../runtime/kubernetes/http/kubeconfig.ts';
import { createTransport } from '../../runtime/kubernetes/http/transport.ts';
import { kinds } from '../../runtime/kubernetes/resources/kinds.ts';
import { startReaper } from '../control-plane/reaper.ts';
import { freePorts } from '../control-plane/processes.ts';
import { refOf } from '../manager/apply.ts';
import { install, withoutNodes } from '../manager/install.ts';
import { startManager } from '../manager/manager.ts';
import { requireAgreement } from '../own-cluster/agree.ts';
import type { DemoCluster } from './cluster.ts';
import { deleteLumigo } from './steps.ts';
import { demoNamespace } from './workloads.ts';

/** What the demo puts into somebody's cluster: the resource and the manager's permissions. The manager itself runs here. */
const borrowed = new Set([
  'Namespace',
  'CustomResourceDefinition',
  'ServiceAccount',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
]);

/**
 * Uses a cluster that the user has, after asking, and takes everything out again. The manager runs on this machine, which
 * the API server cannot call: the reconciler does what the webhook would.
 */
export async function ownCluster(context: string, yes: boolean): Promise<DemoCluster> {
  const connection = await fromKubeconfig({ context });
  if (connection.ca === undefined)
    throw new Error(
      `context '${context}' has no certificate authority, but the manager needs one to trust the API server. Add certificate-authority-data to the kubeconfig`,
    );
  const transport = createTransport(connection, { userAgent: 'lumigo-demo', maxSockets: 8 });
  const client = createClient(transport);
  await refuseIfInstalled(client, context);
  await requireAgreement(getQuestion(context, connection.server.href), yes);
  const dir = mkdtempSync(join(tmpdir(), 'lumigo-demo-'));
  const reaper = startReaper(dir);
  const only = ({ kind }: Manifest) => borrowed.has(kind);
  const uninstall = async (manifests: readonly Manifest[]) => {
    for (const manifest of manifests.filter(only).toReversed())
      await client.delete(refOf(manifest)).catch(undefinedIfNotFound);
  };
  const installation = await install(client, { only, settings: withoutNodes });
  try {
    const [webhookPort = 0] = await freePorts(1);
    const cluster = { dir, server: connection.server.href, ca: String(connection.ca), client, reaper };
    const manager = await startManager(cluster, installation, { webhookPort });
    return {
      client,
      server: connection.server.href,
      manager,
      access: { context },
      hasWebhook: false,
      sink: undefined,
      background: Promise.resolve(),
      async stop() {
        // While the manager is there to let it go: a Lumigo that is left behind would hold its namespace for ever.
        await deleteLumigo(client);
        await client.delete({ ...kinds.namespaces, name: demoNamespace }).catch(undefinedIfNotFound);
        await manager.stop();
        await uninstall(installation.manifests);
        transport.close();
        await reaper.end();
      },
    };
  } catch (error) {
    await uninstall(installation.manifests);
    await reaper.end();
    throw error;
  }
}

async function refuseIfInstalled(client: Client, context: string): Promise<void> {
  const found = await client.find({ ...kinds.customResourceDefinitions, name: `${lumigo.plural}.${lumigo.group}` });
  if (found !== undefined)
    throw new Error(
      `the cluster of context '${context}' already has a Lumigo operator. Use a cluster without one, because the demo would conflict with it`,
    );
}

const getQuestion = (context: string, server: string): string =>
  `This installs the Lumigo resource definition and the operator's permissions into '${context}' (${server}),\ncreates the namespace '${demoNamespace}' with a few workloads, and removes all of it at the end.`;
