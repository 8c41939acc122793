import type * as api from '@kubernetes/client-node';
import type { Metadata, Sparse } from '../injection/types.ts';
import { listManagers, managerOf, type Installed } from '../installation/installation.ts';
import type { Client, KubernetesObject } from '../kubernetes/http/client.ts';
import type { ResourceRef } from '../kubernetes/http/paths.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { accountOf } from './protected-objects.ts';

/** An API server that does not answer delays no end of a process. */
const ANSWER_MS = 5_000;

/** What the operator's own objects say of what is being done to it. */
interface Signs {
  /** Its pods end for good: its namespace is going, or its Deployment is, has gone, or is another operator's now. */
  readonly isEnding: boolean;
  /**
   * The whole of it is being removed: its Deployment goes, and its account, too, or with its namespace will. An account alone
   * may have been deleted by mistake, and a Deployment alone to be replaced: neither is a reason to take anything from anybody.
   */
  readonly isRemoved: boolean;
  /** Its Deployment runs as another account by now: it was given to another operator, the original one by a rollback. */
  readonly isHandedOver: boolean;
  /** Since when its account is going, RFC 3339, by the API server's clock. */
  readonly accountGoingSince: string | undefined;
}

/** Three requests side by side. @throws whatever one of them fails with, after 5 s at the latest */
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

/** Whether another operator is there to stay: this one was renamed or moved, and what is instrumented is the other's matter. */
export const hasSuccessor = async (client: Client, { operatorName, operatorNamespace }: Installed): Promise<boolean> =>
  (await listManagers(client)).some(
    (other) =>
      isThere(other.deployment.metadata) &&
      !(other.operatorName === operatorName && other.operatorNamespace === operatorNamespace),
  );

const accountIn = (deployment: KubernetesObject | undefined): string | undefined =>
  (deployment as Sparse<api.V1Deployment> | undefined)?.spec?.template?.spec?.serviceAccountName;

const isThere = (found: Metadata | undefined): boolean => found !== undefined && found.deletionTimestamp === undefined;
