import { describe, expect, it } from '@jest/globals';
import { eventReasons } from '../../runtime/contract.ts';
import type { Stamp } from '../../runtime/injection/stamp.ts';
import { count } from './count.ts';
import type { Ask, EventPost, Wanted, WorkloadWrite } from './history.ts';

const [plain, logs] = ['plain', 'with logs'];
const tracing = { secretName: 's', secretKey: 'k', traces: true, logs: false };

/** All was asked for before. */
const LATER_MS = 100;

/** A workload's history in words: who makes it what; each with a new generation. */
const written = (...steps: readonly (readonly ['operator' | 'user', Wanted | 'reverted'])[]): WorkloadWrite[] => {
  let has = 'none';
  return steps.map(([by, made], index) => {
    const change = has === 'none' ? 'added' : 'updated';
    const isReverted = made === 'reverted';
    const wanted = isReverted ? 'none' : made;
    has = wanted;
    const at = String(index);
    const stamp: Stamp | undefined = wanted === 'none' ? undefined : { change, at, by: 'controller', tracing };
    return {
      ...{ atMs: LATER_MS + index, namespace: 'shop', uid: 'a', version: index, generation: index + 2 },
      ...{ byOperator: by === 'operator', stamp, isReverted, has: wanted },
      stampText: stamp === undefined && !isReverted ? undefined : at,
    };
  });
};
const asked = (...wanted: readonly Wanted[]): Ask[] =>
  wanted.map((each, atMs) => ({ atMs, namespace: 'shop', wanted: each }));
const told = (...reasons: readonly (keyof typeof eventReasons)[]): EventPost[] =>
  reasons.map((reason, atMs) => ({
    atMs,
    namespace: 'shop',
    uid: 'a',
    reason: eventReasons[reason],
    isWarning: false,
  }));
const start = new Map([['a', { generation: 1, stampText: undefined, isReverted: false, has: 'none' }]]);

describe('what was told', () => {
  const writes = written(['operator', plain], ['operator', logs], ['operator', 'none']);
  const asks = asked(plain, logs, 'none');
  it.each([
    ['each change once', told('added', 'updated', 'removed'), 0, 0],
    ['one of them twice', told('added', 'updated', 'updated', 'removed'), 1, 0],
    ['all but one', told('added', 'removed'), 0, 1],
    ['one twice and another not at all', told('added', 'added', 'removed'), 1, 1],
    ['a warning beside them', told('added', 'updated', 'removed', 'cannotAdd'), 0, 0],
  ])('%s', (_name, posts, toldTwice, untold) => {
    expect(count(writes, posts, asks, { starts: start, ends: new Map() })).toMatchObject({ toldTwice, untold });
  });
});

describe('a write that the log lacks', () => {
  const [added, removed, again] = written(['operator', plain], ['operator', 'none'], ['operator', plain]);
  const writes = [added, again].filter((write) => write !== undefined);
  const asks = asked(plain, 'none', plain);
  it('is no reason to count what follows from it', () => {
    expect(removed?.generation).toBe(3);
    expect(count(writes, told('added', 'removed', 'added'), asks, { starts: start, ends: new Map() })).toMatchObject({
      toldTwice: 0,
      restarted: 0,
    });
  });
  it('that took an injection in is no reason to take its removal for nothing', () => {
    const [, gone] = written(['operator', plain], ['operator', 'none']);
    const only = gone === undefined ? [] : [gone];
    expect(
      count(only, told('added', 'removed'), asked(plain, 'none'), { starts: start, ends: new Map() }),
    ).toMatchObject({
      toldTwice: 0,
      untold: 0,
    });
  });
  it('excuses one event and no more', () => {
    const posts = told('added', 'removed', 'removed', 'added');
    expect(count(writes, posts, asks, { starts: start, ends: new Map() })).toMatchObject({ toldTwice: 1 });
  });
});

describe('generations by the operator', () => {
  it.each([
    ['what was asked for, in its order', written(['operator', plain], ['operator', logs]), asked(plain, logs), 0],
    ['what was asked for last, all else passed over', written(['operator', logs]), asked(plain, 'none', logs), 0],
    ['the same again', written(['operator', plain], ['operator', plain]), asked(plain), 1],
    ['what nobody asked for', written(['operator', logs]), asked(plain), 1],
    ['back to what was asked for before', written(['operator', logs], ['operator', plain]), asked(plain, logs), 1],
    ['out and in again', written(['operator', plain], ['operator', 'none'], ['operator', plain]), asked(plain), 2],
    [
      'again, after a user took it out',
      written(['operator', plain], ['user', 'none'], ['operator', plain]),
      asked(plain),
      0,
    ],
    ['nothing, where a user keeps it', written(['operator', plain], ['user', plain]), asked(plain), 0],
    [
      'the same, though a user changed something else',
      written(['operator', plain], ['user', plain], ['operator', plain]),
      asked(plain),
      1,
    ],
    ['the removal of what the webhook added', written(['user', plain], ['operator', 'none']), asked(plain, 'none'), 0],
  ])('%s', (_name, writes, asks, restarted) => {
    expect(count(writes, [], asks, { starts: start, ends: new Map() }).restarted).toBe(restarted);
  });

  it('a state that is asked for only later', () => {
    const later = asked(plain, logs).map((ask) => ({ ...ask, atMs: ask.atMs * 2 * LATER_MS }));
    expect(count(written(['operator', logs]), [], later).restarted).toBe(1);
  });
});

describe('a revert', () => {
  const once = written(['operator', plain], ['operator', 'reverted']);
  const again = written(['operator', plain], ['operator', 'reverted'], ['operator', logs]);
  it.each([
    ['of a program that fails', once, asked(plain), ['a'], 0],
    ['of one that is well', once, asked(plain), [], 1],
    ['that is followed by another try', again, asked(plain, logs), ['a'], 1],
    ['and another try after the Lumigo was deleted', again, asked(plain, 'none', logs), ['a'], 0],
    [
      'and another try after a deployment',
      written(['operator', plain], ['operator', 'reverted'], ['user', 'none'], ['operator', plain]),
      asked(plain),
      ['a'],
      0,
    ],
  ])('%s', (_name, writes, asks, failing, restarted) => {
    const around = { starts: start, ends: new Map(), failing: new Set(failing) };
    expect(count(writes, [], asks, around).restarted).toBe(restarted);
  });

  it('is reported, and the end of its record is no removal', () => {
    const forgotten = written(['operator', plain], ['operator', 'reverted'], ['operator', 'none']);
    const counted = count(forgotten, told('added', 'reverted'), asked(plain, 'none'), {
      starts: start,
      ends: new Map(),
    });
    expect(counted).toMatchObject({ toldTwice: 0, untold: 0 });
  });
});
