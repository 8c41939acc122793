import { annotations } from '../contract.ts';
import { ourLabel } from '../injection/label.ts';
import { noteOf } from '../injection/rollout-note.ts';
import { stampOf, type Stamp } from '../injection/stamp.ts';
import type { NamespacePolicy, Workload } from '../injection/types.ts';
import { templateOf } from '../injection/workload.ts';
import { digest } from '../wording/digest.ts';
import type { Rollout } from './rollout.ts';
import { progressOf, restarts, shapeOf, type Shape } from './shape.ts';

/** For so long an injection is on trial, and its removal after a revert. */
export const TRIAL_MS = 30 * 60_000;
/** For so long what was put back may make no progress, or for the deadline if that is longer; what fails still was not the injection's fault. */
export const ATTRIBUTION_MS = 2 * 60_000;
/** After its last progress; pods that are refused show in a workload's own status alone. */
export const SOONEST_CHECK_MS = 15_000;

interface Seen {
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

/** Where a workload is in the rollout that was read and left as it is, or was just written. */
export function rolloutOf(seen: Seen): Rollout | undefined {
  const note = noteOf(seen.workload.metadata);
  if (note !== undefined) return reverted(seen, Date.parse(note.at));
  return ourLabel(seen.workload.metadata) === undefined ? undefined : instrumented(seen);
}

function reverted({ workload, policy, before, now }: Seen, at: number): Rollout | undefined {
  const note = noteOf(workload.metadata);
  if (note === undefined) return undefined;
  const known = before?.state === 'reverted' && before.note.at === note.at ? before : undefined;
  const isOpen = known?.isOpen !== false && now.epochMs - at < TRIAL_MS;
  const most = progressOf(workload);
  const progress = known !== undefined && most <= known.progress.most ? known.progress : { most, at: now.ms };
  const seen = { shape: shapeOf(workload), progress, seenAt: now.ms, checkAt: checkAt(now, at) };
  return { state: 'reverted', policy, note, isOpen, ...seen };
}

function instrumented(seen: Seen): Rollout | undefined {
  const { workload, policy, now } = seen;
  const stamp = stampOf(workload.metadata);
  const shape = shapeOf(workload);
  if (stamp === undefined || shape.desired === 0) return undefined;
  const changedAt = Date.parse(stamp.at) || 0;
  if (stamp.change !== 'adopted' && now.epochMs - changedAt <= TRIAL_MS) return onTrial(seen, shape, stamp);
  return restarts(shape) && shape.blocked === undefined ? { state: 'proven', policy } : undefined;
}

function onTrial({ workload, policy, before, now }: Seen, shape: Shape, { at, by }: Stamp): Rollout {
  const changedAt = Date.parse(at);
  const record = digest(templateOf(workload)?.metadata?.annotations?.[annotations.injection] ?? '');
  const trial = { shape, record, changedAt, wasHealthy: by === 'controller' };
  const provenAt = before?.state === 'trial' && before.trial.changedAt === changedAt ? before.provenAt : undefined;
  return { state: 'trial', policy, trial, provenAt, seenAt: now.ms, checkAt: checkAt(now, changedAt) };
}

/** The longer it lasts the less often it is checked; its pods are watched all the time. */
const checkAt = ({ ms, epochMs }: Clocks, since: number): number =>
  ms + Math.max(SOONEST_CHECK_MS, (epochMs - since) / 2);
