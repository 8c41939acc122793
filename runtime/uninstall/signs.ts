import type * as api from '@kubernetes/client-node';
import type { Metadata, Sparse } from '../injection/types.ts';
import { listManagers, managerOf, type Installed } from '../installation/installation.ts';
import type { Client, KubernetesObject } from '../kubernetes/http/client.ts';
import type { ResourceRef } from '../kubernetes/http/paths.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { accountOf } from './protected-objects.ts';

/** An API server that does not answer delays no end of a process. */
const ANSWER_MS = 5_000;

/** The state of the operator's own objects. */
interface Signs {
  /** Its pods end for good: its namespace or its Deployment is being deleted, or the Deployment is another operator's now. */
  readonly isEnding: boolean;
  /**
   * The whole operator is being removed: its Deployment and its account, or its namespace. An account alone may be deleted by
   * mistake, and a Deployment alone to be replaced. Neither removes an injection.
   */
  readonly isRemoved: boolean;
  /** Its Deployment runs as another account, because it is another operator's now, for example after a rollback to the original. */
  readonly isHandedOver: boolean;
  /** When its account was deleted, RFC 3339, by the API server's clock. */
  readonly accountGoingSince: string | undefined;
}

/** Reads the signs by three requests. @throws if one of them fails, after 5 s at the latest */
export async function readSigns(client: Client, installed: Installed): Promise<Signs> {
  const options = { timeoutMs: ANSWER_MS };
  const find = async (ref: ResourceRef): Promise<Metadata | undefined> =>
    (await client.find(ref, { ...options, metadataOnly: true }))?.metadata;
  const manager = managerOf(installed);
  const [namespace, account, deployment] = await Promise.all([
    find({ ...kinds.namespaces, name: installed.operatorNamespace }),
    find(accountOf(installed)),
    client.find(manager, options),
  ]);
  const isNamespaceGoing = namespace !== undefined && !isThere(namespace);
  const isGone = !isThere(deployment?.metadata);
  const isHandedOver = !isGone && accountIn(deployment) !== manager.name;
  const isEnding = isNamespaceGoing || isGone || isHandedOver;
  const accountGoingSince = account?.deletionTimestamp;
  const isRemoved = isNamespaceGoing || (isGone && accountGoingSince !== undefined);
  return { isEnding, isRemoved, isHandedOver, accountGoingSince };
}

/** Returns true if another operator is there to stay, because this one was renamed or moved. The injections are its own then. */
export const hasSuccessor = async (client: Client, { operatorName, operatorNamespace }: Installed): Promise<boolean> =>
  (await listManagers(client)).some(
    (other) =>
      isThere(other.deployment.metadata) &&
      !(other.operatorName === operatorName && other.operatorNamespace === operatorNamespace),
  );

const accountIn = (deployment: KubernetesObject | undefined): string | undefined =>
  (deployment as Sparse<api.V1Deployment> | undefined)?.spec?.template?.spec?.serviceAccountName;

const isThere = (found: Metadata | undefined): boolean => found !== undefined && found.deletionTimestamp === undefined;
