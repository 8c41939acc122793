import type { Logger } from 'pino';
import { cleanupFinalizer } from '../contract.ts';
import { describeError } from '../wording/errors.ts';
import { managerOf, type Installed } from '../installation/installation.ts';
import { createClient, type Client } from '../kubernetes/http/client.ts';
import { isAlreadyExists } from '../kubernetes/http/errors.ts';
import { removeFinalizer } from '../kubernetes/resources/finalizers.ts';
import { within, type Transport } from '../kubernetes/http/transport.ts';
import { accountOf, releaseInTurn, type ProtectedObject } from './protected-objects.ts';

interface UndoOptions {
  readonly client: Client;
  readonly transport: Transport;
  readonly installed: Installed;
  readonly logger: Logger;
}

/**
 * Undoes the deletion of what the operator holds, where that was a mistake: what is being deleted cannot be kept, and tools that
 * would heal it change the dying object only. Rights are released, for whoever applies them again.
 */
export async function undoDeletion(going: readonly ProtectedObject[], options: UndoOptions): Promise<void> {
  const { client, logger } = options;
  logger.warn(
    { deleted: going.map(({ kind, name }) => `${kind} ${name}`) },
    'deleted while the operator goes on: the account comes back with new pods, rights have to be applied again',
  );
  if (going.some(({ kind }) => kind === 'ServiceAccount')) await bringBack(options);
  await releaseInTurn(
    client,
    going.filter(({ kind }) => kind !== 'ServiceAccount'),
  );
}

/**
 * Lets the account go, creates it again as it was, and has the Deployment's pods replaced, as `kubectl rollout restart` does: their
 * tokens are of the account that is gone. These requests are the last that the API server believes, for the 10 s that it remembers
 * whose token is whose; hence with a token that it sees for the first time now.
 */
async function bringBack({ client, transport, installed, logger }: UndoOptions): Promise<void> {
  const ref = accountOf(installed);
  const { namespace, name } = ref;
  const fresh = await freshClient(client, transport, installed).catch((error: unknown) => {
    logger.warn(
      { problem: describeError(error) },
      'cannot get a token of the account as it is now, going on with the old one',
    );
    return client;
  });
  const { metadata, ...rest } = await fresh.get(ref);
  const { labels = {}, annotations = {} } = metadata;
  await removeFinalizer(fresh, ref, metadata, cleanupFinalizer);
  const anew = { ...rest, apiVersion: 'v1', kind: ref.kind, metadata: { namespace, name, labels, annotations } };
  await fresh.create({ ...ref, name: undefined }, anew).catch((error: unknown) => {
    if (!isAlreadyExists(error))
      logger.error({ problem: describeError(error) }, `ServiceAccount ${namespace}/${name} has to be applied again`);
  });
  const template = { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': new Date().toISOString() } } };
  await fresh.patch(managerOf(installed), { kind: 'merge', body: { spec: { template } } }, { metadataOnly: true });
}

async function freshClient(client: Client, transport: Transport, installed: Installed): Promise<Client> {
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec: {} };
  const { object } = await client.create({ ...accountOf(installed), subresource: 'token' }, request);
  const { token } = object['status'] as { token: string };
  return createClient(within(transport, { authorization: `Bearer ${token}` }));
}
