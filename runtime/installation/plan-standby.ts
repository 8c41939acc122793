import { annotations } from '../contract.ts';
import type { Metadata } from '../api/objects.ts';
import type { Installed } from './installation.ts';

/** An installation of the operator, as its webhook configuration names it. */
export interface KnownInstallation extends Installed {
  readonly uid: string;
  readonly createdAt: string;
}

/** The Deployment of another installation, as last read. */
export interface SeenManager {
  readonly exists: boolean;
  /** Monotonic time of the last read that found an available replica, or of the first read. */
  readonly aliveAt: number;
}

/** An installation without an available replica for this time counts as dead: longer than a restart of its only replica. */
export const DEAD_AFTER_MS = 60_000;

/** Reads `namespace/name` from the annotation of a webhook configuration; undefined if it is none of this operator. */
export function installationOf({ annotations: given = {}, uid = '', creationTimestamp = '' }: Metadata) {
  const named = /^([^/]+)\/([^/]+)$/.exec(given[annotations.installation] ?? '');
  const [, operatorNamespace = '', operatorName = ''] = named ?? [];
  return named === null ? undefined : { operatorNamespace, operatorName, uid, createdAt: creationTimestamp };
}

export const idOf = ({ operatorNamespace, operatorName }: Installed): string => `${operatorNamespace}/${operatorName}`;

/** Returns the installations older than this one, oldest first. One without a webhook configuration is the youngest. */
export function olderThan(own: Installed, known: readonly KnownInstallation[]): KnownInstallation[] {
  const sorted = known.toSorted((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1));
  const place = sorted.findIndex((each) => idOf(each) === idOf(own));
  return place === -1 ? sorted : sorted.slice(0, place);
}

const rankOf = ({ createdAt, uid }: KnownInstallation): string => `${createdAt} ${uid}`;

/** Updates what is known of a Deployment by a read of it. `available`: its available replicas; undefined: it does not exist. */
export function seeManager(before: SeenManager | undefined, available: number | undefined, now: number): SeenManager {
  const isAlive = before === undefined || (available ?? 0) > 0;
  return { exists: available !== undefined, aliveAt: isAlive ? now : before.aliveAt };
}

export const isActive = (seen: SeenManager | undefined, now: number): boolean =>
  seen?.exists === true && now - seen.aliveAt < DEAD_AFTER_MS;
