import { suffixes } from '../contract.ts';
import type { Metadata } from '../injection/types.ts';
import { listManagers, type Installed } from '../installation/installation.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { undefinedIfNotFound } from '../kubernetes/http/errors.ts';
import type { ResourceRef } from '../kubernetes/http/paths.ts';
import { accountOf } from './held-objects.ts';

/** An API server that does not answer holds up nobody's end. */
const ANSWER_MS = 5_000;

/** What the operator's own objects say of what is being done to it. */
interface Signs {
  /** Its pods end for good: its namespace is going, or its Deployment is or has gone. */
  readonly isEnding: boolean;
  /**
   * The whole of it is being removed: it is ending, and its account is going, too, or with its namespace will be. An account alone
   * may have been deleted by mistake, and a Deployment alone to be replaced: neither is a reason to take anything from anybody.
   */
  readonly isRemoved: boolean;
  /** Since when its account is going, RFC 3339, by the API server's clock. */
  readonly accountGoingSince: string | undefined;
}

export async function readSigns(client: Client, installed: Installed): Promise<Signs> {
  const { operatorName, operatorNamespace } = installed;
  const find = async (ref: ResourceRef): Promise<Metadata | undefined> =>
    (await client.get(ref, { metadataOnly: true, timeoutMs: ANSWER_MS }).catch(undefinedIfNotFound))?.metadata;
  const name = `${operatorName}${suffixes.manager}`;
  const [namespace, account, deployment] = await Promise.all([
    find({ group: '', version: 'v1', plural: 'namespaces', name: operatorNamespace }),
    find(accountOf(installed)),
    find({ group: 'apps', version: 'v1', plural: 'deployments', namespace: operatorNamespace, name }),
  ]);
  const isNamespaceGoing = namespace !== undefined && !isThere(namespace);
  const isEnding = isNamespaceGoing || !isThere(deployment);
  const accountGoingSince = account?.deletionTimestamp;
  const isRemoved = isNamespaceGoing || (isEnding && accountGoingSince !== undefined);
  return { isEnding, isRemoved, accountGoingSince };
}

/** Whether another operator is there to stay: this one was renamed or moved, and what is instrumented is the other's matter. */
export const hasSuccessor = async (client: Client, { operatorName, operatorNamespace }: Installed): Promise<boolean> =>
  (await listManagers(client)).some(
    (other) =>
      isThere(other.deployment.metadata) &&
      !(other.operatorName === operatorName && other.operatorNamespace === operatorNamespace),
  );

const isThere = (found: Metadata | undefined): boolean => found !== undefined && found.deletionTimestamp === undefined;
