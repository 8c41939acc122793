import type { EventReason } from '../../runtime/api/events.ts';
import type { Ask, Wanted, WorkloadState, WorkloadWrite } from './history.ts';

type State = Pick<WorkloadState, 'generation' | 'note' | 'isReverted' | 'has'>;

export interface Story {
  readonly writes: readonly WorkloadWrite[];
  readonly asks: readonly Ask[];
  /** The reasons of all events. */
  readonly events: readonly string[];
  /** Default: the workload is created meanwhile. */
  readonly start?: State | undefined;
  /** The last generation. */
  readonly end: number;
  readonly fails: boolean;
}

interface Past extends State {
  /** The index of the last asked-for state that was written. */
  readonly step: number;
  /** The log lacks a write, or another writer changed the state. The same state may be written again. */
  readonly isDisturbed: boolean;
  readonly wasReverted: boolean;
}

const added: EventReason = 'LumigoAddedInstrumentation';
const updated: EventReason = 'LumigoUpdatedInstrumentation';
const removed: EventReason = 'LumigoRemovedInstrumentation';
const reverted: EventReason = 'LumigoRevertedInstrumentation';
const created: State = { generation: 0, note: undefined, isReverted: false, has: 'none' };

/** Returns findings: `duplicate` and `unreported` events, and `restarted` for a generation of the operator without a reason. */
export function count({ writes, asks, events, start = created, end, fails }: Story): string[] {
  let past: Past = { ...start, step: 0, isDisturbed: false, wasReverted: start.isReverted };
  let missing = 0;
  const expected: string[] = [];
  const found: string[] = [];
  for (const write of writes) {
    const { generation, has, note, isReverted } = write;
    const gap = Math.max(0, generation - past.generation - 1);
    const before = afterGap(past, gap, fails);
    // Nothing reports the end of a revert that the log lacks, so two events have no write.
    missing += gap + Number(gap > 0 && note === undefined && before.isReverted);
    if (note !== past.note || gap > 0) expected.push(...reasonsFor(write, before));
    if (generation > past.generation) {
      const wanted = [start.has, ...asks.filter(({ atMs }) => atMs <= write.atMs).map((ask) => ask.wanted)];
      const next = write.byOperator ? afterOperator(before, write, wanted, fails) : afterOther(before, write, wanted);
      if (next === undefined) found.push(`restarted: generation ${generation} has '${has}' after '${past.has}'`);
      past = { ...past, isDisturbed: false, ...next, generation, has };
    }
    past = { ...past, note, isReverted };
  }
  return [...found, ...compare(expected, events, missing + Math.max(0, end - past.generation))];
}

/** The log lacks a write if its sender was killed meanwhile. It may be a revert, and the end of its record looks like a removal. */
const afterGap = (past: Past, gap: number, fails: boolean): Past =>
  gap === 0 ? past : { ...past, isDisturbed: true, isReverted: fails };

/** Returns the event that a change of the annotation requires. After a missing write, the state before is unknown. */
function reasonsFor({ change, note, isReverted, byOperator }: WorkloadWrite, before: Past): readonly EventReason[] {
  if (change === 'added') return [added];
  if (change === 'updated') return [updated];
  if (isReverted) return [reverted];
  // The operator reports neither that another writer restores its object, nor the end of a revert.
  return note === undefined && byOperator && !before.isReverted ? [removed] : [];
}

/** @param missing the number of writes that the log lacks: each may have an event */
function compare(expected: readonly string[], events: readonly string[], missing: number): readonly string[] {
  const found: string[] = [];
  let excused = missing;
  for (const reason of [added, updated, removed, reverted]) {
    const countIn = (reasons: readonly string[]) => reasons.filter((each) => each === reason).length;
    const surplus = countIn(events) - countIn(expected);
    for (let each = surplus; each < 0; each += 1) found.push(`unreported: ${reason}`);
    // A revert is reported before it is written, and a change of the `Lumigo` may come between.
    for (let each = excused; each < surplus && reason !== reverted; each += 1) found.push(`duplicate: ${reason}`);
    excused = Math.max(0, excused - Math.max(0, surplus));
  }
  return found;
}

/** The operator may write asked-for states only, in their order. After a revert, an injection needs a removal that was asked for. */
function afterOperator(past: Past, write: WorkloadWrite, wanted: readonly Wanted[], fails: boolean): Past | undefined {
  const mayRevert = fails && (past.has !== 'none' || past.isDisturbed);
  if (write.isReverted) return mayRevert ? { ...past, wasReverted: true } : undefined;
  const step = getStep(past, write.has, wanted);
  return step === -1 ? undefined : { ...past, step, isDisturbed: false, wasReverted: false };
}

/** Returns the index of a state in those that were asked for, or -1 if there was no reason to write it. */
function getStep({ step, isDisturbed, wasReverted, has }: Past, written: Wanted, wanted: readonly Wanted[]): number {
  if (isDisturbed) return wanted.indexOf(written, step);
  if (!wasReverted) return written === has ? -1 : wanted.indexOf(written, step + 1);
  const removal = wanted.indexOf('none', step + 1);
  return removal === -1 ? -1 : wanted.indexOf(written, removal);
}

/** An injection by the webhook was asked for. Its removal by another writer asks for nothing. */
function afterOther(past: Past, { has }: WorkloadWrite, wanted: readonly Wanted[]): Past {
  const isChanged = has !== past.has;
  const step = isChanged && has !== 'none' ? Math.max(past.step, wanted.indexOf(has, past.step)) : past.step;
  return { ...past, step, isDisturbed: past.isDisturbed || isChanged || past.wasReverted };
}
