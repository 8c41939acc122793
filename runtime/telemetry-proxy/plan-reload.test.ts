import { describe, expect, it } from '@jest/globals';
import { initialMs, planReload, restMs, retryMs, textOf, type Collection } from './plan-reload.ts';

const collection = (...names: readonly string[]): Collection => ({
  namespaces: names.map((name) => ({ name, token: `token of ${name}` })),
  renewals: 0,
});
const idle = { wanted: undefined, running: 'forward', lastGood: undefined, failure: undefined, restsUntil: 0, now: 0 };

describe('a reload', () => {
  it('is due when the collector does another thing than it should, or nobody knows what it does', () => {
    expect(planReload(idle)).toBeUndefined();
    expect(planReload({ ...idle, running: undefined })).toEqual({ collection: undefined });
    expect(planReload({ ...idle, wanted: collection('a') })).toEqual({ collection: collection('a') });
    expect(planReload({ ...idle, wanted: collection('a'), running: textOf(collection('a')) })).toBeUndefined();
  });

  it('is not due when there is nothing to collect, leading or not', () => {
    expect(planReload({ ...idle, wanted: collection() })).toBeUndefined();
  });

  it('is due when a token changed, or the watches should begin anew', () => {
    const running = textOf(collection('a'));
    const rotated = { ...collection('a'), namespaces: [{ name: 'a', token: 'another' }] };
    expect(planReload({ ...idle, running, wanted: rotated })).toEqual({ collection: rotated });
    const renewed = { ...collection('a'), renewals: 1 };
    expect(planReload({ ...idle, running, wanted: renewed })).toEqual({ collection: renewed });
  });

  it('waits until programs had time to send what the last one kept them from, and never longer than 10 s', () => {
    const due = { ...idle, wanted: collection('a'), restsUntil: 1_800 };
    expect(planReload({ ...due, now: 1_799 })).toBeUndefined();
    expect(planReload({ ...due, now: 1_800 })).toEqual({ collection: collection('a') });
    expect([600, 20_000].map(restMs)).toEqual([1_800, 10_000]);
  });

  it('does not wait where collecting a namespace is over', () => {
    const resting = {
      ...idle,
      lastGood: collection('a', 'b'),
      running: textOf(collection('a', 'b')),
      restsUntil: 1_800,
    };
    expect(planReload({ ...resting, wanted: collection('a', 'b', 'c') })).toBeUndefined();
    expect(planReload({ ...resting, wanted: collection('b', 'c') })).toEqual({ collection: collection('b', 'c') });
    expect(planReload({ ...resting, wanted: undefined })).toEqual({ collection: undefined });
  });

  describe('that failed', () => {
    const wanted = collection('a', 'b');
    const failure = { collection: textOf(wanted), count: 1, at: 1_000 };

    it('goes back to what worked, and is tried again later', () => {
      const failed = { ...idle, wanted, failure, lastGood: collection('a'), running: undefined };
      expect(planReload({ ...failed, now: 2_000 })).toEqual({ collection: collection('a') });
      expect(planReload({ ...failed, now: 2_000, running: textOf(collection('a')) })).toBeUndefined();
      expect(planReload({ ...failed, now: 1_000 + retryMs(1), running: textOf(collection('a')) })).toEqual({
        collection: wanted,
      });
    });

    it('only forwards where nothing worked before', () => {
      expect(planReload({ ...idle, wanted, failure, running: undefined, now: 2_000 })).toEqual({
        collection: undefined,
      });
    });

    it('holds up nothing else', () => {
      expect(planReload({ ...idle, wanted: collection('c'), failure, now: 2_000 })).toEqual({
        collection: collection('c'),
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
