import { isInjectors, type Evidence } from './evidence.ts';
import type { ModePod } from './mode-pod.ts';
import type { TrialSettings } from './trial.ts';

/** A pod that was evicted, whose replacement is awaited. */
export interface PodTrial {
  readonly name: string;
  /** The uid of its controller, and its kind. */
  readonly owner: string;
  readonly ownerKind: string;
  /** The pods that the controller had then, by uid: any other one replaces it. */
  readonly before: ReadonlySet<string>;
  /** In milliseconds since 1970. */
  readonly at: number;
}

type Verdict =
  | { readonly is: 'broken'; readonly evidence: Evidence }
  /** `until`: when to judge again should nothing be seen before, in milliseconds since 1970. */
  | { readonly is: 'waiting'; readonly until: number }
  /** `missed`: what replaces it came without the injection. */
  | { readonly is: 'proven' | 'missed' };

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
  const own = pods.filter(({ owner, isGoing }) => owner?.uid === trial.owner && !isGoing);
  const replaced = own.filter(({ uid }) => !trial.before.has(uid));
  const broken = replaced.find(({ injected, evidence }) => injected !== undefined && evidence !== undefined);
  if (broken?.evidence !== undefined) return { is: 'broken', evidence: named(broken.name, broken.evidence) };
  if (replaced.some(({ injected, isInReach }) => injected === undefined && isInReach)) return { is: 'missed' };
  const since = replaced.find(({ readySince }) => readySince !== undefined)?.readySince;
  if (since !== undefined) {
    const until = since + settings.soakMs;
    return until > now ? { is: 'waiting', until } : { is: 'proven' };
  }
  // A rollout of its own has put another ReplicaSet in its place: that one's pods are judged by themselves.
  if (own.length === 0 && trial.ownerKind === 'ReplicaSet') return { is: 'proven' };
  return late(trial, settings.deadlineMs, now);
}

function late({ name, at }: PodTrial, deadlineMs: number, now: number): Verdict {
  if (at + deadlineMs > now) return { is: 'waiting', until: at + deadlineMs };
  const message = `what replaces pod '${name}' was not ready within ${deadlineMs / 1_000} seconds`;
  return { is: 'broken', evidence: { cause: 'NotReady', message } };
}

const named = (pod: string, { cause, message }: Evidence): Evidence => ({
  cause,
  message: `pod '${pod}', ${message}`,
});
