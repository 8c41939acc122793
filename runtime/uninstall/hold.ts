import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { holdFinalizer, suffixes } from '../contract.ts';
import { describeError } from '../errors.ts';
import { guarded, type Client } from '../kubernetes/client.ts';
import { isConflict, isNotFound } from '../kubernetes/errors.ts';

/** The operator as it is installed: its objects' names derive from these. */
export interface Installed {
  readonly operatorName: string;
  readonly operatorNamespace: string;
}

const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' };

export const leaseOf = ({ operatorName, operatorNamespace }: Installed) => ({
  namespace: operatorNamespace,
  name: `${operatorName}${suffixes.lease}`,
});

/** What the manager cannot clean up without: who it is, and what lets it. */
export const heldObjects = ({ operatorName, operatorNamespace }: Installed) => [
  {
    ...{ group: '', version: 'v1', plural: 'serviceaccounts' },
    namespace: operatorNamespace,
    name: `${operatorName}${suffixes.manager}`,
  },
  { ...rbac, plural: 'clusterroles', name: `${operatorName}${suffixes.managerRole}` },
  { ...rbac, plural: 'clusterrolebindings', name: `${operatorName}${suffixes.managerRole}` },
];

type HeldObject = ReturnType<typeof heldObjects>[number];

const ATTEMPTS = 5;

/**
 * Holds the operator's account and rights by a finalizer, or lets them go: so they outlast whatever deletes everything at
 * once (`kubectl delete -f`, a GitOps tool, the operator's namespace) until the manager has cleaned up.
 *
 * All are let go at the same moment, by requests that are on their way together: after the first of them has had its effect
 * there would be no right left for the others. What is not there is no problem.
 */
export async function setHold(client: Client, installed: Installed, held: boolean): Promise<void> {
  const refs = heldObjects(installed);
  const found = await Promise.all(refs.map((ref) => finalizersOf(client, ref)));
  await Promise.all(refs.map((ref, index) => change(client, ref, found[index], held)));
}

interface Finalizers {
  readonly resourceVersion: string;
  readonly present: readonly string[];
  readonly deleting: boolean;
}

async function finalizersOf(client: Client, ref: HeldObject): Promise<Finalizers | undefined> {
  try {
    const { metadata } = await client.get(ref, { metadataOnly: true });
    const { resourceVersion = '', finalizers = [], deletionTimestamp } = metadata;
    return { resourceVersion, present: finalizers, deleting: deletionTimestamp !== undefined };
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function change(client: Client, ref: HeldObject, first: Finalizers | undefined, held: boolean): Promise<void> {
  let found = first;
  for (let attempt = 1; found !== undefined; attempt += 1) {
    const others = found.present.filter((finalizer) => finalizer !== holdFinalizer);
    // What is on its way out takes no new finalizer.
    if (held ? others.length < found.present.length || found.deleting : others.length === found.present.length) return;
    const value = held ? [...others, holdFinalizer] : others;
    try {
      const patch = guarded(found.resourceVersion, [{ op: 'add', path: '/metadata/finalizers', value }]);
      await client.patch(ref, patch, { metadataOnly: true });
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error) || attempt === ATTEMPTS) throw error;
      found = await finalizersOf(client, ref);
    }
  }
}

const LOOK_MS = 2_000;

export interface HoldOptions {
  readonly client: Client;
  readonly installed: Installed;
  /** Whether there is anything to clean up; asked every two seconds, and costs no request. */
  readonly needed: () => boolean;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** For as long as this replica leads: holds while there is something to clean up, and nothing otherwise. */
export async function keepHold({ client, installed, needed, logger, signal }: HoldOptions): Promise<void> {
  let held: boolean | undefined;
  while (!signal.aborted) {
    const wanted = needed();
    if (wanted !== held)
      try {
        await setHold(client, installed, wanted);
        held = wanted;
      } catch (error) {
        logger.warn({ held: wanted, problem: describeError(error) }, 'hold on the account and its rights not changed');
      }
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}
