import { shown, type Evidence } from './evidence.ts';
import type { Shape } from './shape.ts';

/** A pod of a workload that carries an injection. Times are milliseconds since 1970, by the cluster's clocks. */
export interface ObservedPod {
  readonly name: string;
  readonly uid: string;
  /** A digest of its injection's record: tells pods of one injection from those of another. */
  readonly record: string | undefined;
  /** Since when it is ready; undefined while it is not. */
  readonly readySince: number | undefined;
  readonly evidence: Evidence | undefined;
}

/** An injection whose pods are watched. */
export interface Trial {
  readonly shape: Shape;
  /** A digest of the injection's record in the pod template. */
  readonly record: string;
  /** When it was written, in milliseconds since 1970. */
  readonly changedAt: number;
  /** Its pods were ready before: that they are not now is news. Nobody knows that of what the webhook injects. */
  readonly wasHealthy: boolean;
}

export interface TrialSettings {
  /** How long all pods are to be ready before the next are changed. */
  readonly soakMs: number;
  /** How long a rollout may make no progress. */
  readonly deadlineMs: number;
}

type Verdict =
  | { readonly is: 'broken'; readonly evidence: Evidence }
  /** `until`: when to judge again, should nothing be seen before; `since`: when it last made progress. */
  | { readonly is: 'progressing'; readonly until: number; readonly since: number }
  | { readonly is: 'soaking'; readonly until: number }
  | { readonly is: 'proven' };

/** Another webhook, or the quota's own controller, may be a moment late. */
const REFUSED_MS = 5_000;

/** What the pods of an injection say for it or against it, at `now` (milliseconds since 1970). */
export function judge(trial: Trial, pods: readonly ObservedPod[], settings: TrialSettings, now: number): Verdict {
  const { shape, record } = trial;
  const own = pods.filter((pod) => pod.record === record);
  const evidence = own.find((pod) => pod.evidence !== undefined)?.evidence ?? refusal(trial, now);
  if (evidence !== undefined) return { is: 'broken', evidence };
  const since = own.flatMap(({ readySince }) => readySince ?? []);
  // Who is paused meanwhile, by its user or at a step of its own strategy, shows what it can.
  const expected = isPaused(shape) ? 1 : shape.desired;
  if (since.length < expected) return progress(trial, own, settings, now);
  const until = Math.max(trial.changedAt, ...since) + settings.soakMs;
  return until > now ? { is: 'soaking', until } : { is: 'proven' };
}

const isPaused = ({ blocked }: Shape): boolean => blocked?.reason === 'Paused';

function refusal({ shape: { refused }, changedAt }: Trial, now: number): Evidence | undefined {
  if (refused === undefined || now - Math.max(refused.since, changedAt) < REFUSED_MS) return undefined;
  return { cause: 'PodsRefused', message: `the API server refuses its pods: ${shown(refused.message)}` };
}

function progress(
  { shape, changedAt, wasHealthy }: Trial,
  own: readonly ObservedPod[],
  { deadlineMs }: TrialSettings,
  now: number,
): Verdict {
  const ready = own.flatMap(({ readySince }) => readySince ?? []);
  const since = Math.max(changedAt, ...ready);
  const until = since + deadlineMs;
  // Who was never ready may take its time, and who is paused makes no progress.
  const mayTake = !wasHealthy || isPaused(shape);
  if (mayTake || until > now) return { is: 'progressing', until: mayTake ? Infinity : until, since };
  const message = `${ready.length} of ${shape.desired} pods are ready, and no other pod became ready within ${deadlineMs / 1_000} seconds`;
  return { is: 'broken', evidence: { cause: 'NotReady', message } };
}
