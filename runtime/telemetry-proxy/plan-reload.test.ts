import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { initialMs, planReload, restMs, retryMs, stillWanted, textOf, type Assignment } from './plan-reload.ts';

const assignment = (...names: readonly string[]): Assignment => ({
  namespaces: names.map((name) => ({ name, token: `token of ${name}`, lumigo: `uid of ${name}` })),
  renewals: 0,
});
const idle = { wanted: undefined, running: 'forward', lastGood: undefined, failure: undefined, restsUntil: 0, now: 0 };

/** Returns the reloads that follow when ten namespaces toggle collection, each `afterMs` after the one before. */
function reloadsUnder(
  toggles: readonly { readonly afterMs: number; readonly index: number }[],
  durations: Iterator<number>,
): readonly { readonly startedAt: number; readonly tookMs: number }[] {
  const reloads: { startedAt: number; tookMs: number }[] = [];
  const on = new Set<string>(['always']);
  let [now, toggledAt, restsUntil] = [0, 0, 0];
  let lastGood: Assignment | undefined;
  for (const { afterMs, index } of toggles) {
    const name = String(index);
    if (!on.delete(name)) on.add(name);
    toggledAt += afterMs;
    now = Math.max(now, toggledAt);
    const wanted = assignment(...[...on].toSorted());
    const plan = planReload({ ...idle, wanted, running: textOf(lastGood), lastGood, restsUntil, now });
    if (plan === undefined) continue;
    const tookMs = durations.next().value as number;
    reloads.push({ startedAt: now, tookMs });
    now += tookMs;
    restsUntil = now + restMs(tookMs);
    lastGood = plan.assignment;
  }
  return reloads;
}

describe('a reload', () => {
  it('is due when the collector does another thing than it should, or nobody knows what it does', () => {
    expect(planReload(idle)).toBeUndefined();
    expect(planReload({ ...idle, running: undefined })).toEqual({ assignment: undefined });
    expect(planReload({ ...idle, wanted: assignment('a') })).toEqual({ assignment: assignment('a') });
    expect(planReload({ ...idle, wanted: assignment('a'), running: textOf(assignment('a')) })).toBeUndefined();
  });

  it('is not due when there is nothing to collect, leading or not', () => {
    expect(planReload({ ...idle, wanted: assignment() })).toBeUndefined();
  });

  it('is due when a token changed, or the watches should begin anew', () => {
    const running = textOf(assignment('a'));
    const rotated = { ...assignment('a'), namespaces: [{ name: 'a', token: 'another', lumigo: 'uid of a' }] };
    expect(planReload({ ...idle, running, wanted: rotated })).toEqual({ assignment: rotated });
    const renewed = { ...assignment('a'), renewals: 1 };
    expect(planReload({ ...idle, running, wanted: renewed })).toEqual({ assignment: renewed });
  });

  it('waits for three times as long as the last one took, also if collecting a namespace ended', () => {
    const due = { ...idle, wanted: assignment('a'), restsUntil: 1_800 };
    expect(planReload({ ...due, now: 1_799 })).toBeUndefined();
    expect(planReload({ ...due, now: 1_800 })).toEqual({ assignment: assignment('a') });
    const running = textOf(assignment('a', 'b'));
    const ended = { ...due, running, lastGood: assignment('a', 'b'), wanted: assignment('b') };
    expect(planReload({ ...ended, now: 1_799 })).toBeUndefined();
    expect(planReload({ ...ended, now: 1_800 })).toEqual({ assignment: assignment('b') });
    expect([600, 20_000].map(restMs)).toEqual([1_800, 60_000]);
  });

  it('leaves the collector at work for three fourths of the time, however ten namespaces toggle collection [F75]', () => {
    const toggles = fc.array(fc.record({ afterMs: fc.integer({ min: 1, max: 3_000 }), index: fc.nat(9) }), {
      minLength: 20,
      maxLength: 200,
    });
    const tookMs = fc.infiniteStream(fc.constantFrom(50, 600, 600, 3_500, 20_000));
    let reloads = 0;
    fc.assert(
      fc.property(toggles, tookMs, (given, durations) => {
        const interruptions = reloadsUnder(given, durations);
        reloads += interruptions.length;
        // From the start of each reload until the start of a later one.
        for (const [index, { startedAt }] of interruptions.entries())
          for (const { startedAt: endedAt } of interruptions.slice(index + 1)) {
            const within = interruptions.filter((each) => each.startedAt >= startedAt && each.startedAt < endedAt);
            const interruptedMs = within.reduce((sum, each) => sum + each.tookMs, 0);
            expect(interruptedMs).toBeLessThanOrEqual((endedAt - startedAt) / 4);
          }
      }),
    );
    expect(reloads).toBeGreaterThan(300);
  });

  describe('that failed', () => {
    const wanted = assignment('a', 'b');
    const failure = { assignment: textOf(wanted), count: 1, at: 1_000 };

    it('goes back to what worked, and is tried again later', () => {
      const failed = { ...idle, wanted, failure, lastGood: assignment('a'), running: undefined };
      expect(planReload({ ...failed, now: 2_000 })).toEqual({ assignment: assignment('a') });
      expect(planReload({ ...failed, now: 2_000, running: textOf(assignment('a')) })).toBeUndefined();
      expect(planReload({ ...failed, now: 1_000 + retryMs(1), running: textOf(assignment('a')) })).toEqual({
        assignment: wanted,
      });
    });

    it('never goes back to a namespace whose collection ended [F75]', () => {
      const failed = { ...idle, wanted, failure, lastGood: assignment('a', 'c'), running: undefined, now: 2_000 };
      expect(planReload(failed)).toEqual({ assignment: assignment('a') });
      const recreated = { name: 'a', token: 'token of a', lumigo: 'another uid' };
      expect(stillWanted(assignment('a'), { namespaces: [recreated], renewals: 0 })?.namespaces).toEqual([]);
    });

    it('only forwards where nothing worked before', () => {
      expect(planReload({ ...idle, wanted, failure, running: undefined, now: 2_000 })).toEqual({
        assignment: undefined,
      });
    });

    it('holds up nothing else', () => {
      expect(planReload({ ...idle, wanted: assignment('c'), failure, now: 2_000 })).toEqual({
        assignment: assignment('c'),
      });
    });

    it('is tried ever more rarely, but always within five minutes', () => {
      expect([1, 2, 3, 7, 50].map(retryMs)).toEqual([5_000, 10_000, 20_000, 300_000, 300_000]);
    });
  });

  it('leaves a namespace time to be read as a whole', () => {
    expect(initialMs(1)).toBe(12_000);
    expect(initialMs(200)).toBeGreaterThan((200 * 7 * 1_000) / 5);
  });
});
