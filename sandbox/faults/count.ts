import { eventReasons } from '../../runtime/contract.ts';
import type { Ask, EventPost, Wanted, WorkloadWrite } from './history.ts';

/** How a workload was when the counting began. */
export interface Start {
  readonly generation: number;
  readonly stampText: string | undefined;
  readonly has: Wanted;
}

export interface Around {
  readonly starts: ReadonlyMap<string, Start>;
  readonly ends: ReadonlyMap<string, number>;
  /** How many events there are, by uid and reason: the log lacks those whose sender was killed in the moment in which they were made. */
  readonly events?: ReadonlyMap<string, number>;
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

const nothing: Start = { generation: 0, stampText: undefined, has: 'none' };

/**
 * What a namespace's history comes to. `writes` in the order of their resourceVersions, `asks` in that of time; `around` by
 * uid: how workloads that were there before were then, and of which generation they are now.
 */
export function count(
  writes: readonly WorkloadWrite[],
  posts: readonly EventPost[],
  asks: readonly Ask[],
  { starts, ends, events = new Map() }: Around = { starts: new Map(), ends: new Map() },
): Counted {
  const expected = new Map<string, number>();
  const unknown = new Map<string, number>();
  let restarted = 0;
  for (const [uid, own] of byWorkload(writes)) {
    const start = starts.get(uid) ?? nothing;
    unknown.set(uid, missingOf(own, start, ends.get(uid)));
    for (const reason of changesOf(own, start)) add(expected, `${uid} ${reason}`);
    restarted += restartsOf(own, asks, start);
  }
  return {
    ...compare(expected, toldOf(posts, events), unknown),
    restarted,
    warnings: posts.filter(({ isWarning }) => isWarning).length,
  };
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
  const [uid = ''] = key.split(' ');
  const left = unknown.get(uid) ?? 0;
  const spent = Math.max(0, Math.min(left, surplus));
  unknown.set(uid, left - spent);
  return surplus - spent;
}

export const changeReasons: ReadonlySet<string> = new Set([
  eventReasons.added,
  eventReasons.updated,
  eventReasons.removed,
]);

export const add = (counts: Map<string, number>, key: string, more = 1): void =>
  void counts.set(key, (counts.get(key) ?? 0) + more);

function byWorkload(writes: readonly WorkloadWrite[]): Map<string, WorkloadWrite[]> {
  const groups = new Map<string, WorkloadWrite[]>();
  for (const write of writes) {
    const group = groups.get(write.uid);
    if (group === undefined) groups.set(write.uid, [write]);
    else group.push(write);
  }
  return groups;
}

/** The events that a workload's writes ask for, one a change. After a write that the log lacks, nobody knows what was there before. */
function* changesOf(writes: readonly WorkloadWrite[], start: Start): Iterable<string> {
  let before = start.stampText;
  let { generation } = start;
  for (const { stamp, stampText, byOperator, generation: own } of writes) {
    const isAfterGap = own > generation + 1;
    generation = Math.max(generation, own);
    if (stampText !== before || isAfterGap) {
      if (stamp?.change === 'added') yield eventReasons.added;
      if (stamp?.change === 'updated') yield eventReasons.updated;
      // Whoever puts an object of their own in its place removes nothing that the operator would tell of.
      if (stampText === undefined && byOperator) yield eventReasons.removed;
    }
    before = stampText;
  }
}

/**
 * The states that the operator wrote into a pod template have to be some of those that were asked for, in their order, each
 * other than the one before. Where somebody else put another state there, the one that is asked for may be written again; so it may after a generation that the log lacks.
 */
function restartsOf(writes: readonly WorkloadWrite[], asks: readonly Ask[], start: Start): number {
  const wanted: readonly Wanted[] = [start.has, ...asks.map((ask) => ask.wanted)];
  let { generation, has } = start;
  let [step, disturbed, unasked] = [0, false, 0];
  for (const write of writes) {
    if (write.generation <= generation) continue;
    disturbed ||= write.generation > generation + 1;
    generation = write.generation;
    if (!write.byOperator) {
      disturbed ||= write.has !== has;
      // An injection by the webhook is one that was asked for; whoever takes it out asks for nothing.
      if (write.has !== has && write.has !== 'none') step = Math.max(step, wanted.indexOf(write.has, step));
    } else {
      const found = stepOf(write.has, wanted, disturbed ? { from: step } : { from: step + 1, not: has });
      if (found === -1) unasked += 1;
      else step = found;
      disturbed = false;
    }
    has = write.has;
  }
  return unasked;
}

/** Where in what was asked for a state stands, from some step on; -1 where it does not, or is the one that was there. */
const stepOf = (has: Wanted, wanted: readonly Wanted[], { from, not }: { from: number; not?: Wanted }): number =>
  has === not ? -1 : wanted.indexOf(has, from);
