import { describe, expect, it } from '@jest/globals';
import { guardAnswer, workloadKinds } from '../contract.ts';
import { withRevert } from '../injection/revert.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { getFacts, isMissed, type ChangeResult } from './facts.ts';
import { observeWorkload } from './workload-store.ts';

const policy: NamespacePolicy = { kind: 'deleting', lumigo: 'lumigo', remove: true };
const other: NamespacePolicy = { ...policy, remove: false };
const before = observeWorkload(workloadKinds.deployment, { namespace: 'shop', name: 'cart', uid: 'u' });
const decision = { kind: 'none', tried: 'nothing', code: 'up-to-date', message: '' } as const;
const workload = { apiVersion: '', kind: '', metadata: {} };
const left: ChangeResult = { kind: 'left', workload, decision };
const removal = {
  kind: 'remove',
  tried: 'remove',
  workload,
  code: 'removed',
  cause: 'opted-out',
  message: '',
} as const;
const written: ChangeResult = { kind: 'written', workload, change: 'removed', decision: removal };
const refused: ChangeResult = { kind: 'failed', change: 'removed', problem: 'quota', isRefused: true };
const unanswered: ChangeResult = { ...refused, problem: 'no answer', isRefused: false };

const facts = (result: ChangeResult, more: Partial<Parameters<typeof getFacts>[0]> = {}) =>
  getFacts({ before, policy, result, isCurrent: true, now: 1_000, random: 0, ...more });

describe('the result of a change', () => {
  it('settles a workload that has not changed since under the policy of the change [F1]', () => {
    expect(facts(left).checkedUnder).toBe(policy);
    expect(facts(written).checkedUnder).toBe(policy);
    expect(facts(left, { isCurrent: false }).checkedUnder).toBeUndefined();
    expect(facts({ kind: 'outdated' }).checkedUnder).toBeUndefined();
  });

  it('counts only refusals by the API server as refusals, from the first one on [F3]', () => {
    expect(facts(unanswered).failure).toMatchObject({ count: 1, refusedSince: undefined, retryAt: 2_000 });
    const first = facts(refused).failure;
    expect(first).toMatchObject({ count: 1, refusedSince: 1_000 });
    const again = { ...before, failure: first };
    expect(facts(refused, { before: again, now: 9_000 }).failure).toMatchObject({ count: 2, refusedSince: 1_000 });
    expect(facts(refused, { before: again, now: 9_000, policy: other }).failure).toMatchObject({ refusedSince: 9_000 });
  });

  it('keeps that the injection is the cause of a refusal until the API server answers something else', () => {
    const added = { ...refused, change: 'added', isInjectionRefused: true } as const;
    const { failure } = facts(added);
    expect(failure?.refusesInjection).toBe(true);
    const after = (result: ChangeResult, more = {}) =>
      facts(result, { before: { ...before, failure }, ...more }).failure?.refusesInjection;
    expect([after(unanswered), after({ ...added, isInjectionRefused: undefined })]).toEqual([true, true]);
    expect([after({ ...refused, isInjectionRefused: false }), after(written)]).toEqual([false, undefined]);
    expect(after(unanswered, { policy: other })).toBe(false);
    expect(after({ ...added, problem: `${guardAnswer} add this` })).toBe(false);
  });

  it('names the telemetry proxy of a kept injection, also if its label was restored', () => {
    const elsewhere = 'http://old';
    const kept = { kind: 'inject', tried: 'nothing', code: 'relabelled', message: '', skipped: [], workload } as const;
    const relabelled: ChangeResult = { kind: 'written', workload, change: 'none', decision: { ...kept, elsewhere } };
    const results: ChangeResult[] = [{ ...left, decision: { ...decision, elsewhere } }, relabelled, written];
    expect(results.map((result) => facts(result).elsewhere)).toEqual([elsewhere, elsewhere, undefined]);
  });

  it('is retried no earlier than a busy API server asks', () => {
    expect(facts({ ...refused, isRefused: false, atLeastMs: 32_000 }).failure).toMatchObject({ retryAt: 33_000 });
  });

  it('waits longer for each refused revert, also after a read between two attempts', () => {
    const evidence = { cause: 'Crash', message: '' } as const;
    const reverting = {
      ...before,
      state: { kind: 'reverting', evidence, template: 'one', attempt: 1, wakeAt: 0 } as const,
    };
    const { failure } = facts(refused, { before: reverting });
    const read = facts(left, { before: { ...reverting, failure } });
    expect(facts(refused, { before: { ...reverting, ...read } }).failure).toMatchObject({ count: 2 });
    expect(facts(left, { before: { ...before, failure } }).failure).toBeUndefined();
  });

  it('counts a write after its undoing as a repeat, and not one after another change [F4]', () => {
    const { write } = facts(written);
    expect(write).toMatchObject({ at: 1_000, touchedAt: undefined, repeats: 0 });
    const undone = { ...before, write: { policy, at: 1_000, touchedAt: 2_000, repeats: 0 } };
    expect(facts(written, { before: undone, now: 12_000 }).write).toMatchObject({ at: 12_000, repeats: 1 });
    expect(facts(left, { before: undone }).write).toMatchObject({ touchedAt: undefined, repeats: 0 });
    const old = { ...before, write: { policy, at: 1_000, touchedAt: 700_000, repeats: 2 } };
    expect(facts(written, { before: old, now: 700_001 }).write).toMatchObject({ repeats: 0 });
  });

  it('counts the undoing of a write also if it happens during a read', () => {
    const known = { ...before, write: { policy, at: 1_000, touchedAt: 2_000, repeats: 1 } };
    const { write } = facts(left, { before: known, isCurrent: false, now: 3_000 });
    expect(write).toMatchObject({ at: 1_000, touchedAt: 3_000, repeats: 1 });
    const added: ChangeResult = { ...written, change: 'added' };
    const unnoticed = { ...before, write: { policy, at: 1_000, touchedAt: undefined, repeats: 0 } };
    expect(facts(added, { before: unnoticed, now: 9_000 }).write).toMatchObject({ repeats: 1 });
    expect(facts(added, { before: unnoticed, now: 9_000, policy: other }).write).toMatchObject({ repeats: 0 });
    expect(facts(added, { before: unnoticed, now: 700_000 }).write).toMatchObject({ repeats: 0 });
  });

  it('notes that the last write is undone, from its answer or from a reading', () => {
    const isUndone = true as const;
    expect(facts({ ...written, isUndone })).toMatchObject({
      checkedUnder: undefined,
      write: { at: 1_000, touchedAt: 1_000, undoneAt: 1_000 },
    });
    const known = { ...before, write: { policy, at: 1_000, touchedAt: 2_000, repeats: 1 } };
    const read = (isCurrent: boolean) => facts({ ...left, isUndone }, { before: known, isCurrent, now: 3_000 });
    expect(read(true)).toMatchObject({ checkedUnder: undefined, write: { touchedAt: 2_000, undoneAt: 3_000 } });
    expect(read(false).write).toMatchObject({ touchedAt: 3_000 });
    expect(read(false).write?.undoneAt).toBeUndefined();
    expect(facts(left, { before: { ...before, ...read(true) } }).write?.undoneAt).toBeUndefined();
  });

  it('counts a corrected label or annotation, which another writer may restore at once', () => {
    const corrected: ChangeResult = { ...written, change: 'none' };
    const { write } = facts(corrected);
    expect(write).toMatchObject({ at: 1_000, repeats: 0 });
    const undone = { ...before, write: write && { ...write, touchedAt: 1_500 } };
    expect(facts(corrected, { before: undone, now: 2_000 }).write).toMatchObject({ at: 2_000, repeats: 1 });
  });

  it('allows another change at once after a revert [F58]', () => {
    const revert = { at: '', cause: 'Crash', attempt: 1, key: '0123456789abcdef', evidence: 'it crashed' };
    const metadata = withRevert({}, { ...revert, at: '2026-11-22T10:00:00Z' });
    const reverted: ChangeResult = { ...written, workload: { ...workload, metadata } };
    const known = { ...before, write: { policy, at: 1_000, touchedAt: 2_000, repeats: 0 } };
    expect(facts(reverted, { before: known }).write).toBeUndefined();
  });

  it('settles a workload that waits until it changes, which is no success after a failure', () => {
    const waiting: ChangeResult = { kind: 'waiting', workload, observation: { kind: 'clean' } };
    const failing = { ...before, failure: facts(refused).failure };
    const waits = facts(waiting, { before: failing });
    expect(waits.checkedUnder).toBe(policy);
    expect(waits).not.toHaveProperty('failure');
    expect(facts(written, { before: failing })).toMatchObject({ failure: undefined });
  });

  it('settles nothing by an eviction, which decides about no change of a user', () => {
    const waiting: ChangeResult = { kind: 'waiting', workload, observation: { kind: 'evicted', isAnyLeft: true } };
    expect(facts(waiting)).toEqual({});
  });

  it('keeps that the workload exceeds the size limit until the next check [F20]', () => {
    const large: ChangeResult = { ...left, decision: { ...decision, code: 'too-large' } };
    expect(facts(large).lastDecision?.code).toBe('too-large');
    const known = { before: { ...before, ...facts(large) } };
    expect(facts(unanswered, known)).not.toHaveProperty('lastDecision');
    expect(facts(left, known).lastDecision?.code).toBe('up-to-date');
    expect(facts(written, known).lastDecision?.code).toBe('removed');
  });

  it('shows that the webhook missed the workload only at the first decision about it', () => {
    const added: ChangeResult = { ...written, change: 'added' };
    const due = { kind: 'waiting', workload, observation: { kind: 'due' } } as ChangeResult;
    const fresh = { ...before, expectedUnder: policy };
    const results = [added, due, written, left, refused];
    expect(results.map((result) => isMissed(fresh, policy, result))).toEqual([true, true, false, false, false]);
    expect(results.map((result) => isMissed(fresh, other, result))).not.toContain(true);
    expect([added, due, left].map((result) => facts(result))).toEqual(
      Array(3).fill(expect.objectContaining({ expectedUnder: undefined })),
    );
    expect(facts(refused)).not.toHaveProperty('expectedUnder');
  });
});
