import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suffixes } from '../../runtime/contract.ts';
import type { Client } from '../../runtime/kubernetes/http/client.ts';
import type { Reaper } from '../control-plane/reaper.ts';
import type { Installation } from './install.ts';

/** The cluster that a manager works for. */
export interface Cluster {
  readonly dir: string;
  readonly server: string;
  readonly ca: string;
  readonly client: Client;
  readonly reaper: Reaper;
}

const TOKEN_SECONDS = 365 * 24 * 3_600;

/** The files that a container finds of its ServiceAccount, with a token of its own; the manager's, unless another suffix is named. */
export async function writeServiceAccount(
  cluster: Cluster,
  { settings }: Installation,
  folder: string,
  suffix: string = suffixes.manager,
): Promise<void> {
  const { name, namespace } = settings;
  const account = { group: '', version: 'v1', plural: 'serviceaccounts', namespace, name: `${name}${suffix}` };
  const body = {
    ...{ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {} },
    spec: { expirationSeconds: TOKEN_SECONDS },
  };
  const { object } = await cluster.client.create({ ...account, subresource: 'token' }, body);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { token } = object['status'] as { token: string };
  for (const [file, text] of Object.entries({ token, 'ca.crt': cluster.ca, namespace }))
    writeFileSync(join(folder, file), text, { mode: 0o600 });
}
