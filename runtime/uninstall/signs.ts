import { listManagers, managerOf, type Installed } from '../installation/installation.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { accountOf } from './protected-objects.ts';

/** If the API server does not answer, no process ends later than this. */
const ANSWER_MS = 5_000;

/**
 * Reads the state of the operator's own objects by three requests:
 * - `isHandedOver`: its Deployment runs as another account, because it is another operator's now, for example after a rollback to the
 *   original.
 * - `isEnding`: its pods end for good, because of that, or because its namespace or its Deployment is being deleted.
 * - `isRemoved`: the whole operator is being removed, its Deployment and its account, or its namespace. An account alone may be deleted by
 *   mistake, and a Deployment alone to be replaced. Neither removes an injection.
 * - `accountGoingSince`: when its account was deleted, RFC 3339, by the API server's clock.
 * @throws if one of them fails, after 5 s at the latest
 */
export async function readSigns(client: Client, installed: Installed) {
  const options = { timeoutMs: ANSWER_MS, metadataOnly: true };
  const manager = managerOf(installed);
  const [namespace, account, deployment] = await Promise.all([
    client.find({ ...kinds.namespaces, name: installed.operatorNamespace }, options),
    client.find(accountOf(installed), options),
    client.find(manager, { timeoutMs: ANSWER_MS }) as Promise<Deployment | undefined>,
  ]);
  const isNamespaceGoing = namespace?.metadata.deletionTimestamp !== undefined;
  const isGone = deployment === undefined || deployment.metadata.deletionTimestamp !== undefined;
  const isHandedOver = !isGone && deployment.spec.template.spec.serviceAccountName !== manager.name;
  const accountGoingSince = account?.metadata.deletionTimestamp;
  return {
    ...{ isHandedOver, accountGoingSince },
    isEnding: isNamespaceGoing || isGone || isHandedOver,
    isRemoved: isNamespaceGoing || (isGone && accountGoingSince !== undefined),
  };
}

type Deployment = Awaited<ReturnType<typeof listManagers>>[number]['deployment'];

/** Returns true if another operator is there to stay, because this one was renamed or moved. The injections are its own then. */
export const hasSuccessor = async (client: Client, { operatorName, operatorNamespace }: Installed): Promise<boolean> =>
  (await listManagers(client)).some(
    (other) =>
      other.deployment.metadata.deletionTimestamp === undefined &&
      !(other.operatorName === operatorName && other.operatorNamespace === operatorNamespace),
  );
