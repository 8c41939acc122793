import { annotations } from '../../runtime/contract.ts';
import { hasInjection } from '../../runtime/injection/remove.ts';
import { findRevert, type Revert } from '../../runtime/injection/revert.ts';
import type { Workload } from '../../runtime/api/objects.ts';
import { toTemplate } from '../../runtime/injection/workload.ts';
import { isReady, type HandledPod } from './kubelet-by-hand.ts';

export type Seen = ReturnType<typeof getSeen>;

/** The facts about a workload that the test knows without looking. Times are milliseconds since 1970. */
export interface Known {
  /** The user's pod template. While it is changed, there are two. */
  readonly templates: readonly string[];
  /** The pod templates in the answers to the user's requests. The webhook injected those with an injection. */
  readonly written: ReadonlySet<string>;
  /** The last time of a request for another try, a new template, or an overwritten annotation. */
  readonly releasedAt: number;
  readonly pausedSince: number | undefined;
  /** The time since when it fails by itself. */
  readonly failsSince: number | undefined;
  readonly hasReplicas: boolean;
}

/** The time of a look, and of the one before. A new state began between them. */
type Times = Readonly<Record<'now' | 'from', number>>;

/** The time of a state, which is kept for `OVERDUE_MS` after its end. */
interface Period {
  readonly since: number;
  readonly until?: number;
}

interface Memory {
  readonly seen: Seen;
  /** The hash of the newest pods with an injection. */
  readonly hash: string | undefined;
  /** The periods in which some of those pods are not ready, and in which none is. */
  readonly some?: readonly Period[];
  readonly none?: readonly Period[];
  /** The time since when all of them are ready. */
  readonly all?: number | undefined;
  /** The times of the look that found it reverted, if it still is. */
  readonly reverted?: Times | undefined;
  /** The time before its last revert, until it is injected again. */
  readonly triedAt?: number | undefined;
  /** Its user asked for this injection after a revert. */
  readonly isRetry?: boolean | undefined;
}

/** The operator may decide without knowing changes of this time. */
const OVERDUE_MS = 4_000;
/** The judge may see a state for a shorter time than the operator, by this much. */
const EARLY_MS = 600;

export function getSeen(workload: Workload) {
  const { metadata } = workload;
  const template = toTemplate(workload);
  return {
    name: metadata.name ?? '',
    workload,
    revert: findRevert(metadata),
    text: metadata.annotations?.[annotations.instrumentation],
    template: JSON.stringify(template),
    isInjected: hasInjection(workload),
  };
}

export const isHalted = (reverts: readonly (Revert | undefined)[], hasRun = false): boolean =>
  reverts.length >= 2 || (!hasRun && reverts.some((revert) => revert?.cause.startsWith('Injector') === true));

/** Judges each next state by the known facts and the outcomes of the pods. Each sentence is a violation. */
export class RolloutJudge {
  private memories: ReadonlyMap<string, Memory> = new Map();
  private lookedAt: number | undefined;
  private readonly uids = new Set<string>();
  /** Workloads that ran with their injection since the `Lumigo` exists, with the pod template of each. */
  readonly proven = new Set<string>();
  private readonly ran = new Set<string>();
  readonly forged = new Set<string>();
  /** The last time when a retry had run for the soak, so its injector runs again. */
  private provenAt = -Infinity;
  readonly violations: string[] = [];

  /** @param settings the time between two looks, the deadline and the soak, in milliseconds */
  constructor(
    private readonly known: ReadonlyMap<string, Known>,
    private readonly settings: { readonly lookMs: number; readonly deadlineMs: number; readonly soakMs: number },
  ) {}

  observe(all: readonly Seen[], pods: readonly HandledPod[], now = Date.now()): void {
    const before = this.memories;
    const times = { now, from: this.lookedAt ?? now };
    this.memories = new Map(all.map((seen) => [seen.name, this.remember(seen, pods, times)]));
    this.lookedAt = now;
    // A look may show that a workload is proven, and before it in the list the injection that follows.
    for (const seen of all) if (seen.isInjected) this.prove(seen, now);
    for (const seen of all) this.judge(seen, before.get(seen.name), all, now);
    for (const { uid } of pods) this.uids.add(uid);
  }

  /** @param time with `from`, it has no revert that its user may have released before it was seen */
  frozen = (until = Infinity, time: keyof Times = 'now'): (Revert & { readonly name: string })[] =>
    [...this.memories.values()].flatMap(({ seen: { name, revert }, reverted }) =>
      revert !== undefined && (reverted?.now ?? Infinity) < until && this.stands(name, revert, reverted?.[time])
        ? [{ ...revert, name }]
        : [],
    );

  /** Returns whether its user asked for another try since a revert. It goes alone, also during a halt. */
  isRequested = (name: string, at = this.memories.get(name)?.reverted?.now): boolean =>
    at !== undefined && (this.known.get(name)?.releasedAt ?? 0) >= at;

  /** A tenant has overwritten the record of its revert, which the operator may remember. Then it waits without one. */
  isForgotten = ({ name, text, revert }: Seen): boolean =>
    revert === undefined && this.forged.has(text ?? '') && this.memories.get(name)?.triedAt !== undefined;

  private stands(name: string, revert: Revert | undefined, at = Infinity): boolean {
    const isFreed = revert?.cause.startsWith('Injector') === true && this.provenAt >= at;
    return at < Infinity && !this.isRequested(name, at) && !isFreed;
  }

  private remember(seen: Seen, pods: readonly HandledPod[], times: Times): Memory {
    const before = this.memories.get(seen.name);
    const own = pods.filter(({ app }) => app === seen.name);
    const injected = own.filter(({ injector }) => injector !== undefined);
    const hash = injected.find(({ uid }) => !this.uids.has(uid))?.hash ?? before?.hash;
    const newest = injected.filter((pod) => pod.hash === hash && pod.ordered !== undefined);
    const kept = before?.hash === hash && before?.seen.isInjected === true ? before : undefined;
    const reverted = this.findReverted(seen, before, times);
    const common = { seen, hash, reverted, ...this.retryIn(seen, before, reverted?.from) };
    if (newest.length === 0) return { ...kept, ...common };
    return { ...common, ...readiness(newest, injected.length === own.length, kept, times) };
  }

  private retryIn({ name, isInjected }: Seen, before: Memory | undefined, revertedAt: number | undefined) {
    if (!isInjected) return { triedAt: revertedAt ?? before?.triedAt };
    return { isRetry: before?.seen.isInjected === true ? before.isRetry : this.isRequested(name, before?.triedAt) };
  }

  private findReverted(seen: Seen, before: Memory | undefined, times: Times): Times | undefined {
    if (seen.revert === undefined || this.forged.has(seen.text ?? '')) return undefined;
    return before?.seen.text === seen.text ? before?.reverted : times;
  }

  private judge(seen: Seen, before: Memory | undefined, all: readonly Seen[], now: number): void {
    if (seen.isInjected && before?.seen.template !== seen.template) this.injected(seen, before ?? {}, all, now);
    if (!seen.isInjected) this.judgeClean(seen, before, now);
  }

  private prove({ name, template }: Seen, now: number): void {
    const { all: runs = Infinity, isRetry } = this.memories.get(name) ?? {};
    const provenAt = runs + this.settings.soakMs - EARLY_MS;
    if (now < provenAt) return;
    if (isRetry === true) this.provenAt = Math.max(this.provenAt, provenAt);
    this.proven.add(name);
    this.ran.add(name + template);
  }

  private judgeClean(seen: Seen, before: Memory | undefined, now: number): void {
    const { templates } = this.known.get(seen.name) ?? {};
    if (templates?.includes(seen.template) === false)
      this.violated(`${seen.name}: ${seen.template} was ${templates.join()}`);
    if (before?.seen.isInjected === true && seen.revert !== undefined)
      this.reverted(seen.name, seen.revert, before, now);
  }

  private violated(sentence: string): void {
    this.violations.push(`${new Date().toISOString()} ${sentence}`);
  }

  private reverted(name: string, revert: Revert | undefined, before: Memory, now: number): void {
    const { lookMs, deadlineMs } = this.settings;
    const [periods = [], least] =
      revert?.cause === 'NotReady' ? [before.some, deadlineMs / 2] : [before.none, lookMs - EARLY_MS];
    const longest = Math.max(...periods.map(({ since, until = now }) => until - since));
    if (periods.length === 0) this.violated(`${name} was reverted (${revert?.cause}), and was well`);
    else if (longest < least)
      this.violated(`${name} was reverted (${revert?.cause}) after it had failed for ${longest} ms`);
  }

  private injected({ name, template }: Seen, before: Partial<Memory>, all: readonly Seen[], now: number): void {
    const { seen, reverted, triedAt } = before;
    const known = this.known.get(name);
    if (known === undefined) return;
    if (this.stands(name, seen?.revert, reverted?.from)) this.violated(`${name} was reverted, and is injected again`);
    if (known.written.has(template)) return;
    const halts = this.frozen(now - OVERDUE_MS, 'from').filter((each) => each.name !== name);
    if (isHalted(halts, this.ran.size > 0) && !this.isRequested(name, triedAt))
      this.violated(`${name} is injected where ${halts.map((each) => each.name).join(' and ')} were reverted`);
    if (now - blockedSince(known) > OVERDUE_MS) this.violated(`${name} is injected, and is paused or fails`);
    this.batches(all);
  }

  private batches(all: readonly Seen[]): void {
    const affected = all.filter((seen) => {
      const { written, hasReplicas } = this.known.get(seen.name) ?? {};
      const isOperators = seen.isInjected && hasReplicas === true && written?.has(seen.template) === false;
      return isOperators && !this.ran.has(seen.name + seen.template);
    });
    if (affected.length > Math.max(1, 2 * this.proven.size))
      this.violated(`${affected.map(({ name }) => name).join()} together, after ${this.proven.size} proven`);
  }
}

const blockedSince = ({ pausedSince = Infinity, failsSince = Infinity }: Known): number =>
  Math.min(pausedSince, failsSince);

/** Returns when some, none and all of the newest pods are ready. */
function readiness(newest: readonly HandledPod[], isComplete: boolean, kept: Memory | undefined, times: Times) {
  const areAll = newest.every(isReady);
  return {
    some: continued(kept?.some, !areAll, times),
    none: continued(kept?.none, !newest.some(isReady), times),
    all: areAll && isComplete ? (kept?.all ?? times.from) : undefined,
  };
}

function continued(known: readonly Period[] = [], is: boolean, { now, from }: Times): readonly Period[] {
  const kept = known.filter(({ until = now }) => now - until <= OVERDUE_MS);
  const open = kept.find(({ until }) => until === undefined);
  if (is) return open === undefined ? [...kept, { since: from }] : kept;
  return kept.map((period) => ({ until: now, ...period }));
}
