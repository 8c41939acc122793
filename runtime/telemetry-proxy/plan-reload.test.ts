import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  afterFailure,
  afterSuccess,
  forgive,
  initialMs,
  isOutdated,
  listsAfter,
  listsAfterExit,
  planStep,
  restMs,
  retryMs,
  stillWanted,
  toList,
  untouched,
} from './plan-reload.ts';
import { port } from './render-nodes.ts';
import type { CollectorState, ListsByUid, Namespaces } from './plan-reload.ts';

const of = (...names: readonly string[]): Namespaces =>
  names.map((name) => ({ name, token: `token of ${name}`, lumigo: `uid of ${name}`, sends: ['events'] }));
const collecting = (...names: readonly string[]): CollectorState => ({
  ...untouched,
  running: of(...names),
  lastGood: of(...names),
  sending: of(...names),
});
const HOUR_MS = 3_600_000;
const wait = { kind: 'wait' };
const done = { kind: 'done' };
const cut = { kind: 'cut' };
const reload = (...names: readonly string[]) => ({ kind: 'reload', namespaces: of(...names) });

function reloadsUnder(
  toggles: readonly { readonly afterMs: number; readonly index: number }[],
  durations: Iterator<number>,
): readonly { readonly startedAt: number; readonly tookMs: number }[] {
  const reloads: { startedAt: number; tookMs: number }[] = [];
  const on = new Set<string>(['always']);
  let now = 0;
  let toggledAt = 0;
  let state = collecting();
  for (const { afterMs, index } of toggles) {
    const name = String(index);
    if (!on.delete(name)) on.add(name);
    toggledAt += afterMs;
    now = Math.max(now, toggledAt);
    const step = planStep(state, of(...[...on].toSorted()), now);
    if (step.kind !== 'reload') continue;
    const tookMs = durations.next().value as number;
    reloads.push({ startedAt: now, tookMs });
    now += tookMs;
    state = { ...collecting(...step.namespaces.map((each) => each.name)), restsUntil: now + restMs(tookMs) };
  }
  return reloads;
}

describe('the collector', () => {
  const rotated = of('a').map((each) => ({ ...each, token: 'another' }));
  const recreated = of('a', 'b').map((each) => (each.name === 'a' ? { ...each, lumigo: 'another uid' } : each));
  const resting = { ...collecting('a', 'b'), restsUntil: 5_000, cutFrom: 3_000 };

  it.each<[string, CollectorState, Namespaces, number, object]>([
    ['only forwards, and should', collecting(), [], 0, done],
    ['does something unknown', untouched, [], 0, reload()],
    ['only forwards, and should collect', collecting(), of('a'), 0, reload('a')],
    ['collects what it should', collecting('a'), of('a'), 0, done],
    ['collects with a former token', collecting('a'), rotated, 0, { kind: 'reload', namespaces: rotated }],
    ['rests, and a namespace is added', resting, of('a', 'b', 'c'), 4_000, wait],
    ['rested long enough for another namespace', resting, of('a', 'b', 'c'), 5_000, reload('a', 'b', 'c')],
    ['rests, and still sends data from before a namespace ended [F75]', resting, of('b'), 2_999, wait],
    ['rests, and a namespace ended [F75]', resting, of('b'), 3_000, cut],
    ['rested long enough, and a namespace ended', resting, of('b'), 5_000, reload('b')],
    ['rests, and a Lumigo resource was deleted and created again', resting, recreated, 4_000, cut],
    ['rests, and is cut off already', { ...resting, sending: [], running: undefined }, of('b'), 4_000, wait],
  ])('%s', (_case, state, wanted, now, step) => expect(planStep(state, wanted, now)).toEqual(step));

  it('is cut off for events, and not for log files', () => {
    const both = of('a', 'b').map((each) => ({ ...each, sends: ['events', 'logFiles'] as const }));
    const state = { ...resting, sending: both };
    const without = (kind: string) =>
      both.map((each) => ({
        ...each,
        sends: each.name === 'a' ? each.sends.filter((sent) => sent !== kind) : each.sends,
      }));
    expect(planStep(state, without('events'), 4_000)).toEqual(cut);
    expect(planStep(state, without('logFiles'), 4_000)).toEqual(wait);
    expect(stillWanted(both, without('logFiles'))).toEqual(without('logFiles'));
  });

  it('rests for three times as long as a reload took', () => {
    expect([600, 20_000].map(restMs)).toEqual([1_800, 60_000]);
  });

  it('works for three fourths of the time, however ten namespaces toggle collection [F75]', () => {
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

  it('has time to read a whole namespace', () => {
    expect(initialMs(1)).toBe(12_000);
    expect(initialMs(200)).toBeGreaterThan((200 * 7 * 1_000) / 5);
  });
});

describe('the existing objects of a namespace', () => {
  interface Reload {
    readonly now: number;
    readonly namespaces: Namespaces;
    readonly cutAt: number;
  }
  const at = (now: number, names: string, cutAt = Infinity): Reload => ({ now, namespaces: of(...names), cutAt });

  /** Returns the namespaces that each reload lists, as one letter each. */
  function listedBy(...reloads: readonly Reload[]) {
    let lists: ListsByUid = new Map();
    return reloads.map(({ now, namespaces, cutAt }) => {
      const listed = toList(namespaces, lists, Math.min(now, cutAt));
      lists = listsAfter(lists, namespaces, listed, now);
      return listed.map(({ name }) => name).join('');
    });
  }

  it.each<[string, Reload[], string[]]>([
    [
      'once, and again in full if a reload interrupts their lists',
      [at(0, 'a'), at(10_000, 'ab'), at(23_000, 'abc'), at(39_000, 'abcd')],
      ['a', 'ab', 'abc', 'd'],
    ],
    ['again in full if the end of another one cut them off', [at(0, 'ab'), at(30_000, 'b', 13_000)], ['ab', 'b']],
    ['for a resource that is created again', [at(0, 'ab'), at(60_000, 'b'), at(70_000, 'ab')], ['ab', '', 'a']],
  ])('are listed %s', (_case, reloads, expected) => expect(listedBy(...reloads)).toEqual(expected));

  it('are not listed for ever, however often reloads interrupt their lists', () => {
    const toggled = Array.from({ length: 40 }, (_, index) => at(index * 2_500, index % 2 === 0 ? 'at' : 'a'));
    const times = listedBy(...toggled).filter((listed) => listed.includes('a')).length;
    expect(times).toBeGreaterThan(10);
    expect(times).toBeLessThan(18);
  });
});

describe('the existing objects of a namespace, if the collector exits', () => {
  /** The collector exits this long after each list. Returns how many lists begin. */
  function countLists(afterMs: number, exits = 20): number {
    let lists: ListsByUid = new Map();
    let now = 0;
    let count = 0;
    for (let exit = 0; exit < exits; exit += 1) {
      const listed = toList(of('a'), lists, now);
      count += listed.length;
      lists = listsAfter(lists, of('a'), listed, now);
      now += afterMs;
      lists = listsAfterExit(lists, now);
    }
    return count;
  }

  it('are listed again, because what was on its way may be lost', () => {
    expect([1, 2].map((exits) => countLists(60_000, exits))).toEqual([1, 2]);
  });

  it('are listed three times if each list ends the collector, and never without end', () => {
    expect(countLists(2_000)).toBe(3);
    expect([12_000, 60_000].map((afterMs) => countLists(afterMs))).toEqual([10, 10]);
  });

  it('are listed again after a collector that exits before it lists anything', () => {
    const begun = listsAfterExit(listsAfter(new Map(), of('a'), of('a'), 0), 60_000);
    const exited = [1, 2, 3, 4].reduce((lists) => listsAfterExit(lists, 61_000), begun);
    expect(toList(of('a'), exited, 62_000)).toEqual(of('a'));
  });

  it('are listed again if it exits an hour after the tenth list', () => {
    const tenth = new Map([['uid of a', { begun: 10, until: 12_000 }]]);
    const exited = listsAfterExit(tenth, 60_000);
    expect(listsAfterExit(tenth, 4_000_000).get('uid of a')).toMatchObject({ begun: 0 });
    expect(toList(of('a'), exited, 60_000)).toEqual([]);
    for (const [lists, endedAt] of [
      [tenth, 12_000],
      [exited, 60_000],
    ] as const) {
      const listedAt = (now: number) => toList(of('a'), listsAfterExit(lists, now), now);
      expect([0, 1].map((ms) => listedAt(endedAt + 3_600_000 + ms))).toEqual([[], of('a')]);
    }
  });
});

describe('a written configuration', () => {
  it.each([
    ['as it should be', ';0f/shop;', 600_000, false],
    ['with the namespaces of former tokens', ';', 599_000, false],
    ['with the namespaces of tokens of ten minutes ago', ';', 600_000, true],
  ])('%s', (_case, written, ageMs, expected) => expect(isOutdated(written, ';0f/shop;', ageMs)).toBe(expected));
});

describe('a configuration that failed', () => {
  const wanted = of('a', 'b');
  const failed = (...lastGood: readonly string[]): CollectorState =>
    afterFailure({ ...untouched, lastGood: of(...lastGood) }, wanted, 1_000, 1_000);

  it.each([
    ['what worked', ['a'], reload('a')],
    ['what worked, without a namespace that ended [F75]', ['a', 'c'], reload('a')],
    ['forwarding if nothing worked before', [], reload()],
    ['forwarding if it is the one that worked before', ['a', 'b'], reload()],
    ['forwarding if what worked is the same without the namespaces that ended', ['a', 'b', 'c'], reload()],
  ])('is replaced by %s', (_case, lastGood, step) =>
    expect(planStep(failed(...lastGood), wanted, 2_000)).toEqual(step),
  );

  it('is replaced by forwarding, with the port for nodes closed, until it is tried again', () => {
    const state = afterFailure({ ...untouched, lastGood: [port] }, [port], 1_000, 1_000);
    expect(planStep(state, [port], 2_000)).toEqual(reload());
    expect(planStep({ ...afterSuccess(state, [], 1_500, 1_500), running: [] }, [port], 2_000)).toEqual(wait);
    expect(planStep({ ...state, running: [] }, [port], 6_000)).toEqual({ kind: 'reload', namespaces: [port] });
  });

  it('is tried again after a pause, which delays another one, too', () => {
    const state = { ...failed('a'), running: of('a') };
    expect(planStep(state, wanted, 999 + retryMs(1))).toEqual(wait);
    expect(planStep(state, wanted, 1_000 + retryMs(1))).toEqual(reload('a', 'b'));
    expect(planStep(state, of('c'), 999 + retryMs(1))).toEqual(reload());
    expect(planStep(state, of('c'), 1_000 + retryMs(1))).toEqual(reload('c'));
  });

  it('waits also after its fallback, whether that works or fails', () => {
    const state = failed('a');
    const works = { ...afterSuccess(state, of('a'), 1_500, 1_500), running: of('a') };
    expect(planStep(works, wanted, 2_000)).toEqual(wait);
    expect(afterFailure(works, wanted, 9_000, 9_000).failure).toMatchObject({ inARow: 2 });
    for (const each of [state, failed('a', 'c')])
      expect(planStep(afterFailure(each, of('a'), 1_500, 1_500), wanted, 2_000)).toEqual(reload());
  });

  it('rests longer for as long as its fallback takes, and three times more', () => {
    const works = { ...afterSuccess(failed('a'), of('a'), 1_500, 3_500), running: of('a') };
    expect(planStep(works, wanted, 1_500 + 4 * 2_000 + retryMs(1) - 1)).toEqual(wait);
    expect(planStep(works, wanted, 1_500 + 4 * 2_000 + retryMs(1))).toEqual(reload('a', 'b'));
  });

  it('rests for 21 minutes at most, because a longer outage has another cause', () => {
    const state = afterFailure({ ...untouched, lastGood: of('a') }, wanted, 0, 2 * HOUR_MS);
    const retriedAt = 2 * HOUR_MS + 21 * 60_000 + retryMs(1);
    expect(planStep(state, wanted, retriedAt - 1)).toEqual(reload('a'));
    expect(planStep(state, wanted, retriedAt)).toEqual(reload('a', 'b'));
  });

  it('is tried less often each time, but at least every half hour', () => {
    expect([1, 2, 3, 8, 50].map(retryMs)).toEqual([5_000, 10_000, 20_000, 640_000, 1_800_000]);
  });

  it('counts with others that fail, until one works that is no fallback', () => {
    const again = afterFailure(failed('a'), of('c'), 9_000, 9_000);
    expect(again.failure).toMatchObject({ inARow: 2 });
    expect(afterSuccess(again, [], 9_500, 9_500).failure).toMatchObject({ inARow: 2 });
    expect(afterSuccess(again, of('d'), 30_000, 31_000).failure).toEqual(untouched.failure);
    expect(afterSuccess(again, of('a'), 30_000, 31_000).failure).toEqual(untouched.failure);
  });

  it('counts no more after the pause if it is not wanted any more', () => {
    let state: CollectorState = { ...untouched, lastGood: of('a') };
    let now = 0;
    for (let failures = 1; failures <= 9; failures += 1) {
      state = afterFailure(state, wanted, now, now + 1_000);
      state = { ...afterSuccess(state, of('a'), now + 1_000, now + 1_500), running: of('a') };
      now = state.failure.until + retryMs(failures);
      expect(planStep(state, wanted, now)).toEqual(reload('a', 'b'));
    }
    expect([now - 1, now].map((at) => planStep(state, of('a'), at).kind)).toEqual(['wait', 'done']);
    expect(afterFailure(state, wanted, now, now).failure.inARow).toBe(10);
    expect(afterFailure(forgive(state), wanted, now, now).failure.inARow).toBe(1);
  });

  it('still rests if its count ends, as when a replica begins to lead', () => {
    const state = forgive(afterFailure({ ...untouched, lastGood: of('a') }, wanted, 1_000, 11_000));
    expect(planStep(state, wanted, 41_000)).toEqual(reload('a'));
    expect(planStep(state, wanted, 41_000 + retryMs(1))).toEqual(reload('a', 'b'));
  });

  it('delays another one, but no fallback, for three times as long as the collector was away', () => {
    const state = afterFailure({ ...untouched, lastGood: of('a') }, wanted, 1_000, 11_000);
    expect(planStep(state, of('a', 'c'), 41_000 + retryMs(1) - 1)).toEqual(reload('a'));
    expect(planStep(state, of('a', 'c'), 41_000 + retryMs(1))).toEqual(reload('a', 'c'));
    expect(planStep(state, of('a'), 11_000)).toEqual(reload('a'));
    expect(planStep({ ...state, running: of('a') }, wanted, 41_000 + retryMs(1) - 1)).toEqual(wait);
    const failedAgain = afterFailure(state, of('a'), 11_000, 31_000);
    expect(planStep(failedAgain, wanted, 41_000 + 80_000 + retryMs(1) - 1)).toEqual(reload());
    expect(planStep(failedAgain, wanted, 41_000 + 80_000 + retryMs(1))).toEqual(reload('a', 'b'));
  });
});

describe('a collector that exits at each reload', () => {
  const KUBELET_FORGETS_MS = 600_000;
  const FALLBACK_MS = 60_000;

  /** A kubelet restarts it after 0, 10, 20, 40 … 300 s. Returns the share of the time in which it serves. */
  function getShareServed(wantedAt: (now: number) => Namespaces, works?: (planned: Namespaces) => boolean): number {
    let state: CollectorState = { ...collecting(), lastGood: of('a', 'b') };
    let now = 0;
    let upSince = -Infinity;
    let backOffMs = 0;
    let servedMs = 0;
    for (let exits = 0; exits < 30;) {
      const step = planStep(state, wantedAt(now), now);
      const from = now;
      if (step.kind === 'reload' && works?.(step.namespaces) === true) {
        now += FALLBACK_MS;
        state = { ...afterSuccess(state, step.namespaces, from, now), running: step.namespaces };
      } else if (step.kind === 'reload') {
        exits += 1;
        const isForgotten = now - upSince > KUBELET_FORGETS_MS;
        backOffMs = isForgotten ? 0 : Math.min(Math.max(backOffMs * 2, 10_000), 300_000);
        now += backOffMs;
        upSince = now;
        state = { ...afterFailure(state, step.namespaces, from, now), running: [] };
      }
      now += 1_000;
      servedMs += 1_000;
    }
    return servedMs / now;
  }

  it.each<[string, (now: number) => Namespaces]>([
    ['nothing changes', () => of('a', 'b', 'c')],
    ['another namespace is added each second', (now) => of('a', 'b', String(now))],
    ['namespaces that worked toggle each second', (now) => of(now % 2_000 === 0 ? 'a' : 'b')],
  ])('serves for nine tenths of the time while %s', (_case, wantedAt) =>
    expect(getShareServed(wantedAt)).toBeGreaterThan(0.9),
  );

  it.each<[string, (now: number) => Namespaces]>([
    ['nothing changes', () => of('a', 'b', 'c')],
    ['another namespace is added each second', (now) => of('a', 'b', String(now))],
  ])('serves for three fourths of the time if a fallback works, while %s', (_case, wantedAt) => {
    const works = (planned: Namespaces) => isDeepStrictEqual(planned, of('a', 'b'));
    expect(getShareServed(wantedAt, works)).toBeGreaterThan(0.75);
  });
});
