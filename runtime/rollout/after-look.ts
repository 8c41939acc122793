import { annotations } from '../contract.ts';
import { ourLabel } from '../injection/label.ts';
import { noteOf } from '../injection/rollout-note.ts';
import { stampOf, type Stamp } from '../injection/stamp.ts';
import type { NamespacePolicy, Workload } from '../injection/types.ts';
import { templateOf } from '../injection/workload.ts';
import type { Rollout } from './rollout.ts';
import { restarts, shapeOf, type Shape } from './shape.ts';

/** For so long an injection is on trial, and its removal after a revert. */
export const TRIAL_MS = 30 * 60_000;
/** For so long what was put back may take to run again; what still fails then was not the injection's fault. */
export const ATTRIBUTION_MS = 2 * 60_000;
/** After its last progress; pods that are refused show in a workload's own status alone. */
export const SOONEST_LOOK_MS = 15_000;

interface Look {
  /** The whole object as it stands now. */
  readonly workload: Workload;
  readonly policy: NamespacePolicy;
  /** What was known before. */
  readonly before: Rollout | undefined;
  readonly now: Clocks;
}

/** One moment by both clocks, in milliseconds. */
export interface Clocks {
  /** The monotonic one: of this process alone. */
  readonly ms: number;
  /** Since 1970: to be compared with what stands in objects. */
  readonly epochMs: number;
}

/** Where a workload is that a look has left as it is, or that was just written. */
export function rolloutAfter(look: Look): Rollout | undefined {
  const note = noteOf(look.workload.metadata);
  if (note !== undefined) return reverted(look, Date.parse(note.at));
  return ourLabel(look.workload.metadata) === undefined ? undefined : instrumented(look);
}

function reverted({ workload, policy, before, now }: Look, at: number): Rollout | undefined {
  const note = noteOf(workload.metadata);
  if (note === undefined) return undefined;
  const isKnown = before?.state === 'reverted' && before.note.at === note.at && !before.isOpen;
  const isOpen = !isKnown && now.epochMs - at < TRIAL_MS;
  return { state: 'reverted', policy, note, shape: shapeOf(workload), isOpen, lookAt: lookAt(now, at) };
}

function instrumented(look: Look): Rollout | undefined {
  const { workload, policy, now } = look;
  const stamp = stampOf(workload.metadata);
  const shape = shapeOf(workload);
  if (stamp === undefined || shape.desired === 0) return undefined;
  const changedAt = Date.parse(stamp.at) || 0;
  if (stamp.change !== 'adopted' && now.epochMs - changedAt <= TRIAL_MS) return onTrial(look, shape, stamp);
  return restarts(shape) && shape.blocked === undefined ? { state: 'proven', policy } : undefined;
}

function onTrial({ workload, policy, before, now }: Look, shape: Shape, { at, by }: Stamp): Rollout {
  const changedAt = Date.parse(at);
  const record = templateOf(workload)?.metadata?.annotations?.[annotations.injection] ?? '';
  const trial = { shape, record, changedAt, wasHealthy: by === 'controller' };
  const provenAt = before?.state === 'trial' && before.trial.changedAt === changedAt ? before.provenAt : undefined;
  return { state: 'trial', policy, trial, provenAt, lookAt: lookAt(now, changedAt) };
}

/** The longer it lasts the less often it is looked at; its pods are watched all the time. */
const lookAt = ({ ms, epochMs }: Clocks, since: number): number =>
  ms + Math.max(SOONEST_LOOK_MS, (epochMs - since) / 2);
