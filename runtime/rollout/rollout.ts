import type { RolloutNote } from '../injection/rollout-note.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import type { Shape } from './shape.ts';
import type { Trial } from './trial.ts';

/**
 * Where a workload is on its way (docs/use/rollout.md has the picture). It is found anew from the object and its pods by whoever leads
 * next: a stamp says when an injection was written, a note that and why it was put back. Times are of the monotonic clock, in milliseconds.
 */
export type Rollout = { readonly policy: NamespacePolicy } & (
  | Queued
  | OnTrial
  /** Its pods have run with the injection for long enough. */
  | { readonly state: 'proven' }
  | Reverted
  /** The settings leave it until its pod template changes. */
  | { readonly state: 'left' }
);

export interface Queued {
  readonly state: 'queued';
  readonly shape: Shape;
  /** It is its turn. */
  readonly granted: boolean;
  /** As it was seen; another one may no longer be blocked. */
  readonly seenVersion: string;
  readonly seenAt: number;
}

export interface OnTrial {
  readonly state: 'trial';
  readonly trial: Trial;
  /** Since when it counts as proven; it is watched for a while longer. */
  readonly provenAt: number | undefined;
  /** When its own status was read. */
  readonly seenAt: number;
  /** When its own status is to be read again. */
  readonly checkAt: number;
}

export interface Reverted {
  readonly state: 'reverted';
  readonly note: RolloutNote;
  readonly shape: Shape;
  /** Whether it runs without the injection is not known yet. */
  readonly isOpen: boolean;
  /** How far its pods without the injection have come at most (shape.ts, `progressOf`), and since when. */
  readonly progress: { readonly most: number; readonly at: number };
  readonly seenAt: number;
  readonly checkAt: number;
}
