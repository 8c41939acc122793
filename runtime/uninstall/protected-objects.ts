import { setTimeout as sleep } from 'node:timers/promises';
import { cleanupFinalizer, partOfSelector, suffixes } from '../contract.ts';
import { describeError } from '../wording/errors.ts';
import type { Metadata } from '../injection/types.ts';
import type { Installed } from '../installation/installation.ts';
import { type Client, readAndChange } from '../kubernetes/http/client.ts';
import { undefinedIfNotFound } from '../kubernetes/http/errors.ts';
import { readMetadata, removeFinalizer, removeFinalizerAsSeen } from '../kubernetes/resources/finalizers.ts';
import type { ObjectMeta } from '../kubernetes/resources/objects.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';

const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' };
const clusterRoles = { ...rbac, plural: 'clusterroles', kind: 'ClusterRole' };
const clusterRoleBindings = { ...rbac, plural: 'clusterrolebindings', kind: 'ClusterRoleBinding' };
const serviceAccounts = { ...kinds.serviceAccounts, kind: 'ServiceAccount' };

/** Who the manager is. */
export const accountOf = ({ operatorName, operatorNamespace }: Installed) => ({
  ...serviceAccounts,
  namespace: operatorNamespace,
  name: `${operatorName}${suffixes.manager}`,
});

/** All that is held: what lets the manager act, since without it it cannot clean up, and who it is, last. */
export function protectedObjects(installed: Installed) {
  const name = `${installed.operatorName}${suffixes.managerRole}`;
  return [{ ...clusterRoles, name }, { ...clusterRoleBindings, name }, accountOf(installed)];
}

export type ProtectedObject = ReturnType<typeof protectedObjects>[number];

export const isProtected = ({ finalizers = [] }: Metadata): boolean => finalizers.includes(cleanupFinalizer);

/** Long enough for Kubernetes' garbage collector to learn who belongs to whom. */
const SETTLE_MS = 1_500;

interface Found {
  readonly ref: ProtectedObject;
  readonly metadata: Metadata;
}

/** Lets the operator's account and rights go, the account last. */
export const release = (client: Client, installed: Installed): Promise<void> =>
  releaseInTurn(client, protectedObjects(installed));

/**
 * Lets objects go, in the order of `protectedObjects`. Rights that are being deleted would be gone with the first of these requests, and
 * then there would be none for the others; so they are first made to wait, by Kubernetes' garbage collector, until the last is gone:
 * its request is the last of all, and nobody has to come after it.
 */
export async function releaseInTurn(client: Client, objects: readonly ProtectedObject[]): Promise<void> {
  await readAndChange(
    undefined,
    () => readAll(client, objects),
    (found) => letGo(client, found),
  );
}

async function readAll(client: Client, objects: readonly ProtectedObject[]): Promise<readonly Found[]> {
  const read = objects.map(async (ref) => ({ ref, metadata: await readMetadata(client, ref) }));
  return (await Promise.all(read)).filter((each): each is Found => each.metadata !== undefined);
}

async function letGo(client: Client, found: readonly Found[]): Promise<void> {
  const last = found.at(-1);
  const leaving = found.slice(0, -1).filter(({ metadata }) => isHeldBack(metadata));
  const areChained = leaving.length > 0 && last !== undefined && isProtected(last.metadata);
  if (areChained) await chain(client, leaving, last);
  // What has changed since it was read may be on its way out by now, and would have to be chained: then all is looked at again.
  const remove = areChained ? removeFinalizer : removeFinalizerAsSeen;
  for (const { ref, metadata } of found) await remove(client, ref, metadata, cleanupFinalizer);
}

const isLeaving = ({ deletionTimestamp }: Metadata): boolean => deletionTimestamp !== undefined;

export const isHeldBack = (seen: Metadata): boolean => isProtected(seen) && isLeaving(seen);

/** Whether all that is held of these is being deleted. */
export const allLeave = (seen: readonly Metadata[]): boolean => seen.filter(isProtected).every(isLeaving);

/** Whoever removes an operator, or gives its Deployment to another one, has come to all of its objects by then. */
export const REMOVED_MS = 10_000;
const POLL_MS = 500;

/**
 * Waits until all that is held is being deleted, or should be by now. Whoever removes the objects of an operator does so one after the other,
 * and a right that is released before it is deleted takes the right to release the others with it.
 */
export async function whenAllLeave(client: Client, installed: Installed): Promise<void> {
  for (const deadline = performance.now() + REMOVED_MS; performance.now() < deadline; await sleep(POLL_MS)) {
    const found = await readAll(client, protectedObjects(installed));
    if (allLeave(found.map(({ metadata }) => metadata))) return;
  }
}

/** Kubernetes' garbage collector takes its own away when the rest has gone. */
const collectors = ['foregroundDeletion', 'orphan'];

/**
 * Lets go of whatever any operator holds, also where nothing else is left of it, for somebody who may list it. Returns what stays
 * although it was deleted, a line each.
 */
export async function releaseAll(client: Client, print: (line: string) => void): Promise<readonly string[]> {
  const stuck: string[] = [];
  const releaseOne = async (
    kind: typeof clusterRoles | typeof serviceAccounts,
    metadata: ObjectMeta,
  ): Promise<void> => {
    const { namespace, name, finalizers = [], deletionTimestamp } = metadata;
    const subject = `${kind.kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
    const foreign = finalizers.filter((finalizer) => ![cleanupFinalizer, ...collectors].includes(finalizer));
    const removed = removeFinalizer(client, { ...kind, namespace, name }, metadata, cleanupFinalizer);
    const problem = await removed.then(() => undefined, describeError);
    if (problem !== undefined) stuck.push(`${subject}: ${problem}`);
    else if (deletionTimestamp !== undefined && foreign.length > 0)
      stuck.push(`${subject}: finalizers of other controllers keep it: ${foreign.join(', ')}`);
    else print(`Released ${subject}.`);
  };
  for (const kind of [clusterRoles, clusterRoleBindings, serviceAccounts])
    for await (const { items } of client.pages(kind, { labelSelector: partOfSelector, metadataOnly: true }))
      for (const { metadata } of items.filter((item) => isProtected(item.metadata))) await releaseOne(kind, metadata);
  return stuck;
}

/** Makes the last one theirs, and has them deleted in the foreground: only after what is theirs. */
async function chain(client: Client, leaving: readonly Found[], last: Found): Promise<void> {
  const ownerReferences = leaving.map(({ ref, metadata }) => ({
    apiVersion: `${ref.group}/${ref.version}`,
    kind: ref.kind,
    name: ref.name,
    uid: metadata.uid ?? '',
    blockOwnerDeletion: true,
  }));
  const owned = client.patch(
    last.ref,
    { kind: 'merge', body: { metadata: { ownerReferences } } },
    { metadataOnly: true },
  );
  // What another replica has released meanwhile is no reason to keep the rest.
  await owned.catch(undefinedIfNotFound);
  await sleep(SETTLE_MS);
  for (const { ref, metadata } of leaving)
    await client
      .delete(ref, { propagation: 'Foreground', preconditions: { uid: metadata.uid } })
      .catch(undefinedIfNotFound);
  await sleep(SETTLE_MS);
}
