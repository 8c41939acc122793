import { setTimeout as sleep } from 'node:timers/promises';
import { holdFinalizer } from '../contract.ts';
import type { Metadata } from '../injection/types.ts';
import type { Client } from '../kubernetes/client.ts';
import { readMetadata, removeFinalizer } from '../kubernetes/finalizers.ts';
import { accountOf, rightsOf, type HeldObject, type Installed } from './held-objects.ts';

/** Long enough for Kubernetes' garbage collector to learn who belongs to whom. */
const SETTLE_MS = 1_500;

interface Found {
  readonly ref: HeldObject;
  readonly metadata: Metadata;
}

/**
 * Lets the operator's account and rights go, the account last. Rights that are being deleted would be gone with the first of these
 * requests, and then there would be none for the others; so they are first made to wait, by Kubernetes' garbage collector, until
 * the account is gone: its last request lets go of itself, and nobody has to come after it.
 */
export async function letGo(client: Client, installed: Installed): Promise<void> {
  const rights = await findAll(client, rightsOf(installed));
  const [account] = await findAll(client, [accountOf(installed)]);
  const leaving = rights.filter(({ metadata }) => isHeld(metadata) && metadata.deletionTimestamp !== undefined);
  if (leaving.length > 0 && account !== undefined && isHeld(account.metadata)) await chain(client, leaving, account);
  for (const { ref, metadata } of account === undefined ? rights : [...rights, account])
    await removeFinalizer(client, ref, metadata, holdFinalizer);
}

/** Makes the account theirs, and has them deleted in the foreground: only after what is theirs. */
async function chain(client: Client, leaving: readonly Found[], account: Found): Promise<void> {
  const ownerReferences = leaving.map(({ ref, metadata }) => ({
    apiVersion: `${ref.group}/${ref.version}`,
    kind: ref.kind,
    name: ref.name,
    uid: metadata.uid ?? '',
    blockOwnerDeletion: true,
  }));
  await client.patch(account.ref, { kind: 'merge', body: { metadata: { ownerReferences } } }, { metadataOnly: true });
  await sleep(SETTLE_MS);
  for (const { ref, metadata } of leaving)
    await client.delete(ref, { propagation: 'Foreground', preconditions: { uid: metadata.uid } });
  await sleep(SETTLE_MS);
}

const isHeld = ({ finalizers = [] }: Metadata): boolean => finalizers.includes(holdFinalizer);

async function findAll(client: Client, refs: readonly HeldObject[]): Promise<Found[]> {
  const found = await Promise.all(refs.map(async (ref) => ({ ref, metadata: await readMetadata(client, ref) })));
  return found.flatMap(({ ref, metadata }) => (metadata === undefined ? [] : [{ ref, metadata }]));
}
