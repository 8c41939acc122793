import { annotations } from '../contract.ts';
import type { Metadata } from '../api/objects.ts';
import type { RuntimeConfig } from '../config/config.ts';

/** The names of all objects of the operator derive from these. */
export type Installed = Pick<RuntimeConfig, 'operatorName' | 'operatorNamespace'>;

export interface KnownInstallation extends Installed {
  readonly uid: string;
  readonly createdAt: string;
}

export interface SeenManager {
  readonly exists: boolean;
  /** Monotonic time of the last read that found an available replica, or of the first read. Later without answers. */
  readonly aliveAt: number;
  readonly seenAt: number;
}

/** An installation without an available replica is dead after this time, which is longer than a restart. */
export const DEAD_AFTER_MS = 60_000;

/** Reads `namespace/name` from the annotation; undefined for webhook configurations of others. */
export function findInstallation({ annotations: given = {}, uid = '', creationTimestamp = '' }: Metadata) {
  const named = /^([^/]+)\/([^/]+)$/.exec(given[annotations.installation] ?? '');
  const [, operatorNamespace = '', operatorName = ''] = named ?? [];
  return named === null ? undefined : { operatorNamespace, operatorName, uid, createdAt: creationTimestamp };
}

export const getId = ({ operatorNamespace, operatorName }: Installed): string => `${operatorNamespace}/${operatorName}`;

/** Returns the older ones, oldest first. An installation without a webhook configuration is the youngest. */
export function olderThan(own: Installed, known: readonly KnownInstallation[]): KnownInstallation[] {
  const sorted = byAge(known);
  const place = sorted.findIndex((each) => getId(each) === getId(own));
  return place === -1 ? sorted : sorted.slice(0, place);
}

/** Returns those with a webhook configuration, or all if none has one. The first acts: the oldest that is available. */
export function actingFirst<T extends Installed & { readonly isAvailable: boolean }>(
  found: readonly T[],
  known: readonly KnownInstallation[],
): readonly T[] {
  const proven = byAge(known).flatMap((each) => found.filter((one) => getId(one) === getId(each)));
  return (proven.length > 0 ? proven : found).toSorted((a, b) => Number(b.isAvailable) - Number(a.isAvailable));
}

const byAge = (known: readonly KnownInstallation[]) => known.toSorted((a, b) => (getRank(a) < getRank(b) ? -1 : 1));

const getRank = ({ createdAt, uid }: KnownInstallation): string => `${createdAt} ${uid}`;

/** `available`: the available replicas; undefined: the Deployment does not exist. */
export function seeManager(before: SeenManager | undefined, available: number | undefined, now: number): SeenManager {
  const isAlive = before === undefined || (available ?? 0) > 0;
  return { exists: available !== undefined, aliveAt: isAlive ? now : before.aliveAt, seenAt: now };
}
export const seeNothing = (now: number, before = seeManager(undefined, 0, now)): SeenManager => ({
  ...before,
  aliveAt: before.aliveAt + now - before.seenAt,
  seenAt: now,
});

export const isActive = (seen: SeenManager | undefined, now: number): boolean =>
  seen?.exists === true && now - seen.aliveAt < DEAD_AFTER_MS;
