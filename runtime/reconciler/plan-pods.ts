import { annotations } from '../contract.ts';
import { fingerprint } from '../injection/fingerprint.ts';
import type { LumigoResource, NamespacePolicy, RolloutNote } from '../injection/types.ts';
import { TRIAL_MS } from '../rollout/rollout-of.ts';
import { isEvictable, whyNot } from '../rollout/evictable.ts';
import type { Evidence } from '../rollout/evidence.ts';
import { evidenceAgainst, judgePod } from '../rollout/judge-pods.ts';
import type { ModePod } from '../rollout/mode-pod.ts';
import type { TrialSettings } from '../rollout/trial.ts';
import type { Now, ObservedNamespace, ObservedPods } from './observed.ts';
import { planNext, type Context, type Known } from './plan-next-pods.ts';
import {
  AT_ONCE,
  injectedIn,
  nothing,
  notKept,
  owners,
  summaryOf,
  wantedOf,
  type PodsPlan,
  type Wanting,
} from './plan-next-pods.ts';

/** New pods come without the injection: either the webhook is not reached, or somebody takes it out. */
const MISSED_MS = 10 * 60_000;
/** After so long a controller is read again that could not be. */
const READ_AGAIN_MS = 10_000;
/** So long it takes until every API server and every replica knows what a Lumigo says. */
const KNOWN_MS = 5_000;

/** Whether pods of a namespace are, or were, injected as they are created, and something is to be done about those that run. */
export const isOfPods = (policy: NamespacePolicy): boolean =>
  policy.state === 'pods' ||
  ((policy.state === 'deleting' || policy.state === 'disabled') && policy.pods === true && policy.remove);

/** What is to be done about the pods of a namespace; undefined where they are nobody's matter. */
export function planPods({ policy, pods, lumigoes, acting: uid, rollout }: ObservedNamespace, now: Now) {
  const acting = lumigoes.find(({ resource }) => resource.metadata.uid === uid)?.resource;
  if (pods === undefined || acting === undefined || !isOfPods(policy)) return undefined;
  if (pods.list === undefined) return planUnknown(pods, acting, now.ms);
  const known = { ...pods, list: pods.list };
  return policy.state === 'pods'
    ? planActive(known, { policy, acting }, rollout.settings, now)
    : planRemoval(known, now);
}

const planUnknown = (pods: ObservedPods, acting: LumigoResource, nowMs: number): PodsPlan => ({
  ...nothing,
  halted: haltedStill(acting, pods),
  restUntil: pods.restUntil,
  wakeAt: pods.restUntil > nowMs ? pods.restUntil : Infinity,
  summary: summaryOf([], { injected: undefined }),
});

function planActive(pods: Known, context: Context, settings: TrialSettings, now: Now): PodsPlan {
  const halted = haltedStill(context.acting, pods);
  if (halted !== undefined) return planHalted(pods, halted, now);
  // The webhooks go by what the status says.
  if (context.policy.halted !== undefined)
    return { ...nothing, restUntil: now.ms + KNOWN_MS, resumes: true, summary: summaryOf(pods.list) };
  return planForward(pods, context, settings, now);
}

/** What a halt holds for: whoever changes one of these has it tried again. */
function subjectOf({ metadata }: LumigoResource, injector: string) {
  const retry = metadata.annotations?.[annotations.retry];
  const asked = retry === undefined ? {} : { retry: fingerprint(retry) };
  return { template: String(metadata.generation ?? 0), injection: injector, ...asked };
}

function haltedStill(acting: LumigoResource, { injector }: ObservedPods): RolloutNote | undefined {
  const note = acting.status?.podsHalted;
  if (note === undefined) return undefined;
  const subject: Partial<RolloutNote> = subjectOf(acting, injector);
  const holds = (['template', 'injection', 'retry'] as const).every((key) => note[key] === subject[key]);
  return holds ? note : undefined;
}

/** What does not become ready with the injection is replaced once more, without it; what ran well before has other reasons. */
function planHalted(pods: Known, halted: RolloutNote, now: Now): PodsPlan {
  const haltedAt = Date.parse(halted.at);
  const due = now.ms + haltedAt + KNOWN_MS - Date.parse(now.iso);
  const broken = pods.list.filter(
    (pod) =>
      pod.injected !== undefined &&
      pod.readySince === undefined &&
      pod.createdAt >= haltedAt - TRIAL_MS &&
      !pod.isGoing &&
      isEvictable(pod),
  );
  const { free, keptAt } = notKept(broken, pods, now.ms);
  const evict = due > now.ms ? [] : free.slice(0, AT_ONCE);
  const summary = summaryOf(pods.list, { waiting: broken.length });
  return { ...nothing, evict, halted, restUntil: pods.restUntil, summary, wakeAt: due > now.ms ? due : keptAt };
}

/** Injected pods are replaced by clean ones, one of each controller at a time, wherever another pod serves meanwhile. */
function planRemoval(pods: Known, now: Now): PodsPlan {
  const { list, restUntil } = pods;
  const open = owners(list, ({ injected }) => injected !== undefined).filter((each) => whyNot(each) !== 'Alone');
  const { free, keptAt } = notKept(open.flatMap(nextToGo), pods, now.ms);
  const isDue = restUntil <= now.ms;
  const waiting = wantedOf(open).length;
  const summary = summaryOf(list, { waiting, left: injectedIn(list) - waiting });
  return { ...nothing, evict: isDue ? free : [], restUntil, summary, wakeAt: isDue ? keptAt : restUntil };
}

/** What is not ready serves nobody, so nobody waits for the others before it goes. */
function nextToGo(each: Wanting): readonly ModePod[] {
  const unready = each.isAnyGoing ? [] : each.wanted.filter(({ readySince }) => readySince === undefined);
  return (whyNot(each) === undefined ? each.wanted : unready).slice(0, 1);
}

/** Since when the evicted pod is gone is what the watch shows. */
function withGone(pods: Known, epochMs: number): Known {
  const { trial, list } = pods;
  const isNews = trial !== undefined && trial.goneAt === undefined && !list.some(({ uid }) => uid === trial.uid);
  return isNews ? { ...pods, trial: { ...trial, goneAt: epochMs } } : pods;
}

function planForward(known: Known, context: Context, settings: TrialSettings, now: Now): PodsPlan {
  const epochMs = Date.parse(now.iso);
  const pods = withGone(known, epochMs);
  const verdict = pods.trial === undefined ? undefined : judgePod(pods.trial, pods.list, settings, epochMs);
  const found = evidenceAgainst(pods.list, Math.max(pods.resumedAt, epochMs - TRIAL_MS));
  const against = found ?? (verdict?.is === 'broken' ? verdict.evidence : undefined);
  if (against !== undefined) return halting(pods, context, against, now);
  return goOn(pods, context, verdict, now);
}

/** Nothing speaks against the injection. */
function goOn(pods: Known, context: Context, verdict: ReturnType<typeof judgePod> | undefined, now: Now): PodsPlan {
  const epochMs = Date.parse(now.iso);
  if (verdict?.is === 'waiting') return planWaiting(pods, context, verdict.until - epochMs, now);
  if (verdict?.is === 'unclear') return { ...planWaiting(pods, context, READ_AGAIN_MS, now), asksOwner: true };
  const restUntil = verdict?.is === 'missed' ? now.ms + MISSED_MS : pods.restUntil;
  const next = planNext({ ...pods, restUntil }, context, false, now.ms);
  return { ...next, summary: { ...next.summary, isMissed: restUntil - now.ms > KNOWN_MS } };
}

/** What replaces a pod is awaited: no other one goes meanwhile. */
function planWaiting(pods: Known, context: Context, forMs: number, now: Now): PodsPlan {
  const next = planNext(pods, context, true, now.ms);
  const summary = { ...next.summary, underWay: pods.trial?.name };
  const wakeAt = Math.min(next.wakeAt, now.ms + Math.max(0, forMs) + 1_000);
  return { ...next, trial: pods.trial, summary, wantsTurn: true, wakeAt };
}

function halting(pods: Known, { acting }: Context, { cause, message }: Evidence, now: Now): PodsPlan {
  const halted = { at: now.iso, cause, evidence: message.slice(0, LONGEST), ...subjectOf(acting, pods.injector) };
  return { ...nothing, halted, restUntil: pods.restUntil, summary: summaryOf(pods.list) };
}
const LONGEST = 1_000;
