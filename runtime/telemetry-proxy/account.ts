import { mkdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { pause, retrying } from '../async/retrying.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { accountFiles, suffixes } from '../contract.ts';
import { orUndefined } from '../json/values.ts';
import type { Client } from '../kubernetes/http/client.ts';
import type { Connection } from '../kubernetes/http/credentials.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { writeWhole } from './files.ts';

interface AccountOptions {
  readonly config: RuntimeConfig;
  readonly client: Client;
  readonly authority: Connection['ca'];
}

/** The shortest lifetime that Kubernetes allows. A stolen token is valid until then. */
const LIFE_SECONDS = 600;

/** Writes a token without the pod's rights (docs/contributing/adr/0013-identities.md). Returns its life in seconds. */
export async function writeAccount({ config, client, authority }: AccountOptions): Promise<number> {
  const { operatorName, operatorNamespace: namespace, telemetryProxyAccountDirectory: folder } = config;
  const name = `${operatorName}${suffixes.telemetryProxy}`;
  const ref = { ...kinds.serviceAccounts, namespace, name, subresource: 'token' };
  const wanted = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {} };
  const { object } = await client.create(ref, { ...wanted, spec: { expirationSeconds: LIFE_SECONDS } });
  const { spec, status } = object as unknown as { spec: { expirationSeconds: number }; status: { token: string } };
  mkdirSync(folder, { recursive: true });
  writeWhole(join(folder, accountFiles.namespace), namespace);
  const pem = authority?.()?.toString();
  if (pem !== undefined) writeWhole(join(folder, accountFiles.authority), pem);
  writeWhole(join(folder, accountFiles.token), status.token);
  return spec.expirationSeconds;
}

export const readAuthority = ({ telemetryProxyAccountDirectory: folder }: RuntimeConfig): string | undefined =>
  orUndefined(() => readFileSync(join(folder, accountFiles.authority), 'utf8'));

interface KeepOptions extends AccountOptions {
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** The fraction of the lifetime after which a token is replaced. */
  readonly renewAt?: number;
}

/** The collector reads the file each minute. */
export async function keepAccount({ logger, signal, renewAt = 0.8, ...options }: KeepOptions): Promise<void> {
  const failure = 'cannot renew the token of the telemetry proxy, retrying';
  while (!signal.aborted) {
    const goodForSeconds = await retrying(() => writeAccount(options), { signal, logger, failure });
    if (goodForSeconds !== undefined) await pause(goodForSeconds * 1_000 * renewAt, signal);
  }
}

export const asTelemetryProxy = (
  { server, ca, insecure, serverName }: Connection,
  { telemetryProxyAccountDirectory: folder }: RuntimeConfig,
): Connection => ({
  server,
  ca,
  insecure,
  serverName,
  authorization: async () => `Bearer ${await readFile(join(folder, accountFiles.token), 'utf8')}`,
});
