import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suffixes } from '../../runtime/contract.ts';
import type { Client } from '../../runtime/kubernetes/http/client.ts';
import { inCluster } from '../../runtime/kubernetes/http/credentials.ts';
import { createTransport, type Transport } from '../../runtime/kubernetes/http/transport.ts';
import type { Reaper } from '../control-plane/reaper.ts';
import type { Installation } from './install.ts';
import { kinds } from '../../runtime/kubernetes/resources/kinds.ts';

export interface Cluster {
  readonly dir: string;
  readonly server: string;
  readonly ca: string;
  readonly client: Client;
  readonly reaper: Reaper;
}

/** Returns the variables by which a program in a pod finds the API server. */
export function getAddressVariables({ server }: Pick<Cluster, 'server'>) {
  const { hostname, port } = new URL(server);
  return { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
}

const TOKEN_SECONDS = 365 * 24 * 3_600;

/** Writes the files of a ServiceAccount's volume, with a new token. Default: the manager's account. */
export async function writeServiceAccount(
  cluster: Cluster,
  { settings }: Installation,
  folder: string,
  suffix: string = suffixes.manager,
): Promise<void> {
  const { name, namespace } = settings;
  const token = await tokenFor(cluster.client, { namespace, name: `${name}${suffix}` });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const [file, text] of Object.entries({ token, 'ca.crt': cluster.ca, namespace }))
    writeFileSync(join(folder, file), text, { mode: 0o600 });
}

export async function tokenFor(
  client: Client,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<string> {
  const ref = { ...kinds.serviceAccounts, namespace, name, subresource: 'token' };
  const spec = { expirationSeconds: TOKEN_SECONDS };
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec };
  const { object } = await client.create(ref, body);
  return (object['status'] as { token: string }).token;
}

/** Opens connections as the manager's account. They must be closed. */
export async function managerTransport(cluster: Cluster, installation: Installation): Promise<Transport> {
  const directory = `${cluster.dir}/manager-account`;
  await writeServiceAccount(cluster, installation, directory);
  return createTransport(await inCluster({ directory, env: getAddressVariables(cluster) }), { userAgent: 'test' });
}
