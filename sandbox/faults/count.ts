import { eventReasons } from '../../runtime/contract.ts';
import type { Ask, EventPost, Noted, Wanted, WorkloadWrite } from './history.ts';

/** How a workload was when the counting began. */
export interface Start extends Pick<Noted, 'stampText' | 'isReverted' | 'has'> {
  readonly generation: number;
}

export interface Around {
  readonly starts: ReadonlyMap<string, Start>;
  readonly ends: ReadonlyMap<string, number>;
  /** How many events there are, by uid and reason: the log lacks those whose sender was killed in the moment in which they were made. */
  readonly events?: ReadonlyMap<string, number>;
  /** The uids of workloads whose programs fail with the injection. */
  readonly failing?: ReadonlySet<string>;
}

export interface Counted {
  readonly toldTwice: number;
  readonly untold: number;
  /** New generations of a pod template by the operator that no change of a Lumigo asked for. */
  readonly restarted: number;
  readonly warnings: number;
  /** Of what is told twice and untold: how many of which reason, e.g. `untold: LumigoRemovedInstrumentation`. */
  readonly amiss: ReadonlyMap<string, number>;
}

const nothing: Start = { generation: 0, stampText: undefined, isReverted: false, has: 'none' };
const { added, updated, removed, reverted } = eventReasons;
export const changeReasons: ReadonlySet<string> = new Set([added, updated, removed, reverted]);

/**
 * What a namespace's history comes to. `writes` in the order of their resourceVersions, `asks` in that of time; `around` by
 * uid: how workloads that were there before were then, and of which generation they are now.
 */
export function count(
  writes: readonly WorkloadWrite[],
  posts: readonly EventPost[],
  asks: readonly Ask[],
  { starts, ends, events = new Map(), failing = new Set() }: Around = { starts: new Map(), ends: new Map() },
): Counted {
  const [expected, unknown] = [new Map<string, number>(), new Map<string, number>()];
  let restarted = 0;
  for (const uid of new Set(writes.map((write) => write.uid))) {
    const own = writes.filter((write) => write.uid === uid);
    const start = starts.get(uid) ?? nothing;
    unknown.set(uid, missingOf(own, start, ends.get(uid)));
    for (const reason of changesOf(own, start)) add(expected, `${uid} ${reason}`);
    restarted += restartsOf(own, asks, start, failing.has(uid));
  }
  const warnings = posts.filter(({ isWarning }) => isWarning).length;
  return { ...compare(expected, toldOf(posts, events), unknown), restarted, warnings };
}

/** Generations that no write in the log has made: whoever sent it was killed, and the API server noted no success. */
function missingOf(writes: readonly WorkloadWrite[], start: Start, end = 0): number {
  let [generation, missing] = [start.generation, 0];
  for (const write of writes) {
    missing += Math.max(0, write.generation - generation - 1);
    generation = Math.max(generation, write.generation);
  }
  return missing + Math.max(0, end - generation);
}

/** What was told against what there was to tell, both by workload and reason. */
function compare(
  expected: ReadonlyMap<string, number>,
  told: ReadonlyMap<string, number>,
  unknown: Map<string, number>,
): Pick<Counted, 'toldTwice' | 'untold' | 'amiss'> {
  const amiss = new Map<string, number>();
  let [toldTwice, untold] = [0, 0];
  for (const key of new Set([...told.keys(), ...expected.keys()])) {
    const surplus = excused(unknown, key, (told.get(key) ?? 0) - (expected.get(key) ?? 0));
    if (surplus === 0) continue;
    if (surplus > 0) toldTwice += surplus;
    else untold -= surplus;
    add(amiss, `${surplus > 0 ? 'told twice' : 'untold'}: ${key.slice(key.indexOf(' ') + 1)}`, Math.abs(surplus));
  }
  return { toldTwice, untold, amiss };
}

/** How often what was told, by uid and reason. */
function toldOf(posts: readonly EventPost[], events: ReadonlyMap<string, number>): Map<string, number> {
  const told = new Map<string, number>();
  for (const { uid, reason } of posts) if (changeReasons.has(reason)) add(told, `${uid} ${reason}`);
  for (const [key, there] of events) told.set(key, Math.max(there, told.get(key) ?? 0));
  return told;
}

/** What is left of a surplus of events when some of it may be about writes that the log lacks. */
function excused(unknown: Map<string, number>, key: string, surplus: number): number {
  const [uid = '', reason] = key.split(' ');
  // It is told before it is done, and a change of the Lumigo may come between.
  if (reason === reverted && surplus > 0) return 0;
  const left = unknown.get(uid) ?? 0;
  const spent = Math.max(0, Math.min(left, surplus));
  unknown.set(uid, left - spent);
  return surplus - spent;
}

export const add = (counts: Map<string, number>, key: string, more = 1): void =>
  void counts.set(key, (counts.get(key) ?? 0) + more);

/** The events that a workload's writes ask for, one a change. After a write that the log lacks, nobody knows what was there before. */
function* changesOf(writes: readonly WorkloadWrite[], start: Start): Iterable<string> {
  let before: Pick<Noted, 'stampText' | 'isReverted'> = start;
  let { generation } = start;
  for (const write of writes) {
    const isAfterGap = write.generation > generation + 1;
    generation = Math.max(generation, write.generation);
    const reason = reasonFor(write, before);
    if (reason !== undefined && (write.stampText !== before.stampText || isAfterGap)) yield reason;
    before = write;
  }
}

function reasonFor({ stamp, stampText, isReverted, byOperator }: WorkloadWrite, before: Pick<Noted, 'isReverted'>) {
  if (stamp?.change === 'added') return added;
  if (stamp?.change === 'updated') return updated;
  if (isReverted) return reverted;
  // The operator reports neither that another writer restores its own object, nor the end of a revert.
  return stampText === undefined && byOperator && !before.isReverted ? removed : undefined;
}

/**
 * The states that the operator wrote into a pod template must be some of those that were asked for by then, in their order, each
 * different from the one before. After another writer's state, or a generation that the log lacks, the same state may be written again.
 * A program that fails with the injection loses it, and gets it again only after its removal is asked for.
 */
function restartsOf(writes: readonly WorkloadWrite[], asks: readonly Ask[], start: Start, fails: boolean): number {
  let past: Past = { ...start, step: 0, isDisturbed: false };
  let unasked = 0;
  for (const write of writes) {
    if (write.generation <= past.generation) continue;
    const wanted = [start.has, ...asks.filter(({ atMs }) => atMs <= write.atMs).map((ask) => ask.wanted)];
    const seen = { ...past, isDisturbed: past.isDisturbed || write.generation > past.generation + 1 };
    const next = write.byOperator ? afterOperator(seen, write, wanted, fails) : afterOther(seen, write, wanted);
    if (next === undefined) unasked += 1;
    past = { ...(next ?? { ...seen, isDisturbed: false }), generation: write.generation, has: write.has };
  }
  return unasked;
}

interface Past extends Pick<Start, 'generation' | 'isReverted' | 'has'> {
  /** How much of the states that were asked for has come. */
  readonly step: number;
  /** Another writer's state may be there, or a write that the log lacks. */
  readonly isDisturbed: boolean;
}

/** An injection by the webhook is one that was asked for, and its removal by another writer asks for nothing. */
function afterOther(past: Past, { has }: WorkloadWrite, wanted: readonly Wanted[]): Past {
  const isDisturbed = past.isDisturbed || has !== past.has || past.isReverted;
  const isIn = has !== past.has && has !== 'none';
  return { ...past, isDisturbed, step: isIn ? Math.max(past.step, wanted.indexOf(has, past.step)) : past.step };
}

/** Undefined for a write without a reason. */
function afterOperator(past: Past, write: WorkloadWrite, wanted: readonly Wanted[], fails: boolean): Past | undefined {
  const { step, isReverted, isDisturbed } = past;
  if (write.isReverted) return fails && past.has !== 'none' ? { ...past, isReverted: true } : undefined;
  const again = isReverted ? { after: wanted.indexOf('none', step + 1) } : { after: step + 1, not: past.has };
  const found = stepOf(write.has, wanted, isDisturbed ? { after: step } : again);
  return found === -1 ? undefined : { ...past, step: found, isDisturbed: false, isReverted: false };
}

/** Where in what was asked for a state stands, from some step on (-1: from none); -1 where it does not, or is the one that was there. */
const stepOf = (has: Wanted, wanted: readonly Wanted[], { after, not }: { after: number; not?: Wanted }): number =>
  has === not || after < 0 ? -1 : wanted.indexOf(has, after);
