import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  afterFailure,
  initialMs,
  nothing,
  planStep,
  restMs,
  retryMs,
  stillWanted,
  textOf,
  untouched,
  type Assignment,
  type CollectorState,
} from './plan-reload.ts';

const assignment = (...names: readonly string[]): Assignment => ({
  namespaces: names.map((name) => ({ name, token: `token of ${name}`, lumigo: `uid of ${name}` })),
  renewals: 0,
});
const idle: CollectorState = { ...untouched, running: 'forward' };
const collecting = (...names: readonly string[]): CollectorState => {
  const taken = assignment(...names);
  return { ...untouched, running: textOf(taken), lastGood: taken, sending: taken };
};
const wait = { kind: 'wait' };
const reload = (wanted: Assignment) => ({ kind: 'reload', assignment: wanted });

/** Returns the reloads that follow when ten namespaces toggle collection, each `afterMs` after the one before. */
function reloadsUnder(
  toggles: readonly { readonly afterMs: number; readonly index: number }[],
  durations: Iterator<number>,
): readonly { readonly startedAt: number; readonly tookMs: number }[] {
  const reloads: { startedAt: number; tookMs: number }[] = [];
  const on = new Set<string>(['always']);
  let [now, toggledAt] = [0, 0];
  let state = idle;
  for (const { afterMs, index } of toggles) {
    const name = String(index);
    if (!on.delete(name)) on.add(name);
    toggledAt += afterMs;
    now = Math.max(now, toggledAt);
    const step = planStep(state, assignment(...[...on].toSorted()), now);
    if (step.kind !== 'reload') continue;
    const tookMs = durations.next().value as number;
    reloads.push({ startedAt: now, tookMs });
    now += tookMs;
    state = { ...collecting(...step.assignment.namespaces.map((each) => each.name)), restsUntil: now + restMs(tookMs) };
  }
  return reloads;
}

describe('a reload', () => {
  it('is due when the collector does another thing than it should, or nobody knows what it does', () => {
    expect(planStep(idle, nothing, 0)).toEqual(wait);
    expect(planStep(untouched, nothing, 0)).toEqual(reload(nothing));
    expect(planStep(idle, assignment('a'), 0)).toEqual(reload(assignment('a')));
    expect(planStep(collecting('a'), assignment('a'), 0)).toEqual(wait);
  });

  it('is not due when there is nothing to collect, leading or not', () => {
    expect(planStep(idle, assignment(), 0)).toEqual(wait);
  });

  it('is due when a token changed, or the watches should begin anew', () => {
    const rotated = { ...assignment('a'), namespaces: [{ name: 'a', token: 'another', lumigo: 'uid of a' }] };
    expect(planStep(collecting('a'), rotated, 0)).toEqual(reload(rotated));
    const renewed = { ...assignment('a'), renewals: 1 };
    expect(planStep(collecting('a'), renewed, 0)).toEqual(reload(renewed));
  });

  it('waits for three times as long as the last one took, also if collecting a namespace ended', () => {
    const resting = { ...idle, restsUntil: 1_800 };
    expect(planStep(resting, assignment('a'), 1_799)).toEqual(wait);
    expect(planStep(resting, assignment('a'), 1_800)).toEqual(reload(assignment('a')));
    const ended = { ...collecting('a', 'b'), restsUntil: 1_800 };
    expect(planStep(ended, assignment('b'), 1_799)).toEqual(wait);
    expect(planStep(ended, assignment('b'), 1_800)).toEqual(reload(assignment('b')));
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
    const failed = (lastGood: Assignment): CollectorState =>
      afterFailure({ ...untouched, lastGood, running: undefined }, wanted, 1_000);

    it('goes back to what worked, and is tried again later', () => {
      const state = failed(assignment('a'));
      expect(planStep(state, wanted, 2_000)).toEqual(reload(assignment('a')));
      const running = textOf(assignment('a'));
      expect(planStep({ ...state, running }, wanted, 2_000)).toEqual(wait);
      expect(planStep({ ...state, running }, wanted, 1_000 + retryMs(1))).toEqual(reload(wanted));
    });

    it('never goes back to a namespace whose collection ended [F75]', () => {
      expect(planStep(failed(assignment('a', 'c')), wanted, 2_000)).toEqual(reload(assignment('a')));
      const recreated = { name: 'a', token: 'token of a', lumigo: 'another uid' };
      expect(stillWanted(assignment('a'), { namespaces: [recreated], renewals: 0 }).namespaces).toEqual([]);
    });

    it('only forwards where nothing worked before', () => {
      expect(planStep(failed(nothing), wanted, 2_000)).toEqual(reload(nothing));
    });

    it('only forwards if the assignment that worked before is the one that fails now', () => {
      expect(failed(wanted).lastGood).toEqual(nothing);
      expect(planStep(failed(assignment('a', 'b', 'c')), wanted, 2_000)).toEqual(reload(nothing));
    });

    it('counts the failures of one assignment in a row', () => {
      const again = afterFailure(failed(nothing), wanted, 9_000);
      expect(again.failure).toMatchObject({ count: 2, at: 9_000 });
      expect(afterFailure(again, assignment('c'), 9_500).failure).toMatchObject({ count: 1, at: 9_500 });
    });

    it('holds up nothing else', () => {
      expect(planStep(failed(nothing), assignment('c'), 2_000)).toEqual(reload(assignment('c')));
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

describe('a cut', () => {
  const cut = { kind: 'cut' };
  const resting = { ...collecting('a', 'b'), restsUntil: 5_000, cutFrom: 3_000 };

  it('stops collected data during a rest if collecting a namespace ended [F75]', () => {
    expect(planStep(resting, assignment('b'), 2_999)).toEqual(wait);
    expect(planStep(resting, assignment('b'), 3_000)).toEqual(cut);
    expect(planStep(resting, assignment('b'), 5_000)).toEqual(reload(assignment('b')));
  });

  it('is not due if a namespace is added, or the data is cut off already', () => {
    expect(planStep(resting, assignment('a', 'b', 'c'), 4_000)).toEqual(wait);
    expect(planStep({ ...resting, sending: nothing }, assignment('b'), 4_000)).toEqual(wait);
  });

  it('is due if a Lumigo resource was deleted and created again', () => {
    const [a, b] = assignment('a', 'b').namespaces;
    const recreated = [{ ...a, lumigo: 'another uid' }, b] as Assignment['namespaces'];
    expect(planStep(resting, { namespaces: recreated, renewals: 0 }, 4_000)).toEqual(cut);
  });
});
