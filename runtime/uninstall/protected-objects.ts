import { setTimeout as sleep } from 'node:timers/promises';
import { cleanupFinalizer, partOfSelector, suffixes } from '../contract.ts';
import { describeError } from '../wording/errors.ts';
import type { Metadata } from '../api/objects.ts';
import { clusterRoles, getManagerRole, type Installed } from '../installation/installation.ts';
import { type Client, readAndChange } from '../kubernetes/http/client.ts';
import { undefinedIfNotFound } from '../kubernetes/http/errors.ts';
import { readMetadata, removeFinalizer, removeFinalizerAsSeen } from '../kubernetes/resources/finalizers.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';

const clusterRoleBindings = { ...clusterRoles, plural: 'clusterrolebindings', kind: 'ClusterRoleBinding' };
const serviceAccounts = { ...kinds.serviceAccounts, kind: 'ServiceAccount' };

export const getAccount = ({ operatorName, operatorNamespace }: Installed) => ({
  ...serviceAccounts,
  namespace: operatorNamespace,
  name: `${operatorName}${suffixes.manager}`,
});

/** Returns the rights that the manager needs to clean up, and its account as the last one. */
export function protectedObjects(installed: Installed) {
  const role = getManagerRole(installed);
  return [role, { ...clusterRoleBindings, name: role.name }, getAccount(installed)];
}

export type ProtectedObject = ReturnType<typeof protectedObjects>[number];

type Seen = Readonly<Record<'metadata', Metadata>>;
type Found = Seen & { readonly ref: ProtectedObject };

export const isProtected = ({ metadata: { finalizers = [] } }: Seen): boolean => finalizers.includes(cleanupFinalizer);
export const isLeaving = ({ metadata }: Seen): boolean => metadata.deletionTimestamp !== undefined;
export const isHeldBack = (found: Seen): boolean => isProtected(found) && isLeaving(found);

/** A removal or hand-over of the operator has deleted all of its objects within this time. */
export const REMOVED_MS = 10_000;
/** Kubernetes' garbage collector learns of an owner within this time. */
const SETTLE_MS = 1_500;

export async function readAll(client: Client, objects: readonly ProtectedObject[]): Promise<readonly Found[]> {
  const read = objects.map(async (ref) => ({ ref, metadata: await readMetadata(client, ref) }));
  return (await Promise.all(read)).filter((each): each is Found => each.metadata !== undefined);
}

/** Keeps rights in deletion until the last object is deleted, because without them its request is refused. */
export async function release(client: Client, objects: readonly ProtectedObject[]): Promise<void> {
  const read = () => readAll(client, objects);
  await readAndChange(undefined, read, async (found) => {
    const last = found.at(-1);
    const leaving = found.slice(0, -1).filter(isHeldBack);
    const areChained = leaving.length > 0 && last !== undefined && isProtected(last);
    if (areChained) await chain(client, leaving, last);
    // An object that changed after it was read may be in deletion, and must be chained. Then all are read again.
    const remove = areChained ? removeFinalizer : removeFinalizerAsSeen;
    for (const { ref, metadata } of found) await remove(client, ref, metadata, cleanupFinalizer);
  });
}

/** Makes rights owners of the last object beside others, e.g. OLM's. A foreground deletion deletes them after what they own. */
async function chain(client: Client, leaving: readonly Found[], last: Found): Promise<void> {
  const ours = leaving.map(({ ref, metadata: { uid = '' } }) => ({
    apiVersion: `${ref.group}/${ref.version}`,
    kind: ref.kind,
    name: ref.name,
    uid,
    blockOwnerDeletion: true,
  }));
  const others = (last.metadata.ownerReferences ?? []).filter(({ uid }) => ours.every((each) => each.uid !== uid));
  const body = { metadata: { ownerReferences: [...others, ...ours] } };
  // Another replica may have released it meanwhile.
  await client.patch(last.ref, { kind: 'merge', body }, { metadataOnly: true }).catch(undefinedIfNotFound);
  await sleep(SETTLE_MS);
  for (const { ref, metadata } of leaving)
    await client
      .delete(ref, { propagationPolicy: 'Foreground', preconditions: { uid: metadata.uid } })
      .catch(undefinedIfNotFound);
  await sleep(SETTLE_MS);
}

/** Kubernetes' garbage collector removes these finalizers. */
const collectors = ['foregroundDeletion', 'orphan'];

/** Releases the objects of every operator. Returns a line for each one that stays although it was deleted. */
export async function releaseAll(client: Client, print: (line: string) => void): Promise<readonly string[]> {
  const stuck: string[] = [];
  for await (const { kind, metadata } of allProtected(client)) {
    const { namespace, name, finalizers = [] } = metadata;
    const subject = `${kind.kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
    const foreign = finalizers.filter((finalizer) => ![cleanupFinalizer, ...collectors].includes(finalizer));
    const removed = removeFinalizer(client, { ...kind, namespace, name }, metadata, cleanupFinalizer);
    const problem = await removed.then(() => undefined, describeError);
    if (problem !== undefined) stuck.push(`${subject}: ${problem}`);
    else if (isLeaving({ metadata }) && foreign.length > 0)
      stuck.push(`${subject}: finalizers of other controllers keep it: ${foreign.join(', ')}`);
    else print(`Released ${subject}.`);
  }
  return stuck;
}

async function* allProtected(client: Client) {
  for (const kind of [clusterRoles, clusterRoleBindings, serviceAccounts]) {
    // OLM creates the account without labels.
    const labelSelector = kind === serviceAccounts ? undefined : partOfSelector;
    for await (const { items } of client.pages(kind, { labelSelector, metadataOnly: true }))
      yield* items.filter(isProtected).map(({ metadata }) => ({ kind, metadata }));
  }
}
