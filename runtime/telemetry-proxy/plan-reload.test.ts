import { describe, expect, it } from '@jest/globals';
import { initialMs, planReload, restMs, retryMs, textOf, type Assignment } from './plan-reload.ts';

const assignment = (...names: readonly string[]): Assignment => ({
  namespaces: names.map((name) => ({ name, token: `token of ${name}` })),
  renewals: 0,
});
const idle = { wanted: undefined, running: 'forward', lastGood: undefined, failure: undefined, restsUntil: 0, now: 0 };

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
    const rotated = { ...assignment('a'), namespaces: [{ name: 'a', token: 'another' }] };
    expect(planReload({ ...idle, running, wanted: rotated })).toEqual({ assignment: rotated });
    const renewed = { ...assignment('a'), renewals: 1 };
    expect(planReload({ ...idle, running, wanted: renewed })).toEqual({ assignment: renewed });
  });

  it('waits until programs had time to send what the last one kept them from, and never longer than 10 s', () => {
    const due = { ...idle, wanted: assignment('a'), restsUntil: 1_800 };
    expect(planReload({ ...due, now: 1_799 })).toBeUndefined();
    expect(planReload({ ...due, now: 1_800 })).toEqual({ assignment: assignment('a') });
    expect([600, 20_000].map(restMs)).toEqual([1_800, 10_000]);
  });

  it('does not wait where collecting a namespace is over', () => {
    const resting = {
      ...idle,
      lastGood: assignment('a', 'b'),
      running: textOf(assignment('a', 'b')),
      restsUntil: 1_800,
    };
    expect(planReload({ ...resting, wanted: assignment('a', 'b', 'c') })).toBeUndefined();
    expect(planReload({ ...resting, wanted: assignment('b', 'c') })).toEqual({ assignment: assignment('b', 'c') });
    expect(planReload({ ...resting, wanted: undefined })).toEqual({ assignment: undefined });
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
