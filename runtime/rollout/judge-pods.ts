import { isInjectors, type Evidence } from './evidence.ts';
import { isOneByOne } from './evictable.ts';
import type { ModePod } from './mode-pod.ts';
import { TRIAL_MS } from './rollout-of.ts';
import type { TrialSettings } from './trial.ts';

/** A pod that was evicted, whose replacement is awaited. Times are milliseconds since 1970. */
export interface PodTrial {
  readonly name: string;
  readonly uid: string;
  readonly owner: NonNullable<ModePod['owner']>;
  /** The pods that the controller had then, by uid: any other one replaces it. */
  readonly before: ReadonlySet<string>;
  readonly at: number;
  /** Since when it is seen to be gone; undefined while it is not. */
  readonly goneAt: number | undefined;
  /** How many pods its controller is to have, as was read when none had come in time; undefined before. */
  readonly wanted: number | undefined;
}

type Verdict =
  | { readonly is: 'broken'; readonly evidence: Evidence }
  /** `until`: when to judge again should nothing be seen before, in milliseconds since 1970. */
  | { readonly is: 'waiting'; readonly until: number }
  /** `missed`: what replaces it came without the injection. `unclear`: nothing came, and how many are wanted is not known. */
  | { readonly is: 'proven' | 'missed' | 'unclear' };

/**
 * What speaks against the injection, whoever made the pod: the injector itself fails, or a program does, of which a pod of the same
 * controller runs well without.
 * @param since in milliseconds since 1970: older pods say nothing of it any more
 */
export function evidenceAgainst(pods: readonly ModePod[], since: number): Evidence | undefined {
  const clean = new Set(
    pods.flatMap(({ owner, injected, readySince }) =>
      owner !== undefined && injected === undefined && readySince !== undefined ? [owner.uid] : [],
    ),
  );
  const found = pods.find(
    ({ injected, isGoing, evidence, owner, createdAt }) =>
      injected !== undefined &&
      !isGoing &&
      createdAt >= since &&
      evidence !== undefined &&
      (isInjectors(evidence) || clean.has(owner?.uid ?? '')),
  );
  return found?.evidence && named(found.name, found.evidence);
}

/** What the pods of the controller say of the one that was evicted, at `now` (milliseconds since 1970). */
export function judgePod(trial: PodTrial, pods: readonly ModePod[], settings: TrialSettings, now: number): Verdict {
  const own = pods.filter(({ owner, isGoing }) => owner?.uid === trial.owner.uid && !isGoing);
  const replaced = own.filter(({ uid }) => !trial.before.has(uid));
  const said = saidBy(replaced, settings.soakMs, now);
  if (said !== undefined) return said;
  // A rollout of its own has put another ReplicaSet in its place: that one's pods are judged by themselves.
  if (own.length === 0 && trial.owner.kind === 'ReplicaSet') return { is: 'proven' };
  if (trial.goneAt === undefined && isOneByOne(trial.owner)) return still(trial, now);
  const verdict = late(trial, settings.deadlineMs, now);
  return replaced.length > 0 || verdict.is === 'waiting' ? verdict : missing(trial, own.length, verdict);
}

/** Undefined while none of those that replace it is ready, and nothing speaks against the injection. */
function saidBy(replaced: readonly ModePod[], soakMs: number, now: number): Verdict | undefined {
  const broken = replaced.find(({ injected, evidence }) => injected !== undefined && evidence !== undefined);
  if (broken?.evidence !== undefined) return { is: 'broken', evidence: named(broken.name, broken.evidence) };
  if (replaced.some(({ injected, isInReach }) => injected === undefined && isInReach)) return { is: 'missed' };
  const since = replaced.find(({ readySince }) => readySince !== undefined)?.readySince;
  if (since === undefined) return undefined;
  return since + soakMs > now ? { is: 'waiting', until: since + soakMs } : { is: 'proven' };
}

/** It has not gone yet, and nothing comes before; what never goes says nothing of an injection. */
const still = ({ at }: PodTrial, now: number): Verdict =>
  at + TRIAL_MS > now ? { is: 'waiting', until: at + TRIAL_MS } : { is: 'proven' };

/** Nothing has come in time: what should is refused, say, or its controller wants one fewer by now. */
function missing({ wanted }: PodTrial, there: number, verdict: Verdict): Verdict {
  if (wanted === undefined) return { is: 'unclear' };
  return wanted <= there ? { is: 'proven' } : verdict;
}

function late({ name, at, goneAt = at }: PodTrial, deadlineMs: number, now: number): Verdict {
  if (goneAt + deadlineMs > now) return { is: 'waiting', until: goneAt + deadlineMs };
  const message = `the replacement of pod '${name}' was not ready within ${deadlineMs / 1_000} seconds`;
  return { is: 'broken', evidence: { cause: 'NotReady', message } };
}

const named = (pod: string, { cause, message }: Evidence): Evidence => ({
  cause,
  message: `pod '${pod}', ${message}`,
});
