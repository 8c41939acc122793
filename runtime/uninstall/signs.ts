import { findActing, getManager, listInstallations } from '../installation/installation.ts';
import type { Installed, ManagerDeployment } from '../installation/installation.ts';
import { getId } from '../installation/plan-standby.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { getAccount, isProtected } from './protected-objects.ts';

/** Without an answer of the API server, the process still ends after this time. */
const ANSWER_MS = 5_000;

/**
 * Reads the state of the operator's own objects. Throws if an answer takes 5 s, or all waits for a busy server more than 5 s.
 * - `isHandedOver`: the Deployment runs as another account, for example after a rollback to the original operator.
 * - `isEnding`: the pods end for good.
 * - `isRemoved`: the namespace is deleted, or the Deployment and the account. Only one of them may be a mistake.
 * - `accountGoingSince`: RFC 3339, by the API server's clock.
 */
export async function readSigns(client: Client, installed: Installed) {
  const options = { timeoutMs: ANSWER_MS, maxWaitMs: ANSWER_MS };
  const manager = getManager(installed);
  const [namespace, account, deployment] = await Promise.all([
    client.find({ ...kinds.namespaces, name: installed.operatorNamespace }, { ...options, metadataOnly: true }),
    client.find(getAccount(installed), { ...options, metadataOnly: true }),
    client.find(manager, options) as Promise<ManagerDeployment | undefined>,
  ]);
  const isNamespaceGoing = namespace?.metadata.deletionTimestamp !== undefined;
  const isGone = deployment === undefined || deployment.metadata.deletionTimestamp !== undefined;
  const isHandedOver = !isGone && deployment.spec.template.spec.serviceAccountName !== manager.name;
  const accountGoingSince = account?.metadata.deletionTimestamp;
  return {
    isHandedOver,
    isAccountProtected: account !== undefined && isProtected(account),
    accountGoingSince,
    isEnding: isNamespaceGoing || isGone || isHandedOver,
    isRemoved: isNamespaceGoing || (isGone && accountGoingSince !== undefined),
  };
}

/** Finds the only operator of the cluster. Throws an Error if there are several. */
export async function findOnly(client: Client): Promise<Installed | undefined> {
  const acting = await findActing(client);
  if (acting?.note !== undefined) throw new Error(`it is not clear which operator to remove. ${acting.note}`);
  return acting;
}

/** Returns true if this operator was renamed or moved: injections belong to the other one. An editor can forge a Deployment. */
export async function hasSuccessor(client: Client, installed: Installed): Promise<boolean> {
  const known = await listInstallations(client);
  const others = known.filter((each) => getId(each) !== getId(installed)).map(getManager);
  const found = await Promise.all(others.map((ref) => client.find(ref, { metadataOnly: true })));
  return found.some((deployment) => deployment !== undefined && deployment.metadata.deletionTimestamp === undefined);
}
