import { describe, expect, it } from '@jest/globals';
import { count, type Story } from './count.ts';
import type { Ask, Wanted, WorkloadWrite } from './history.ts';

const plain = 'plain';
const logs = 'with logs';
/** In milliseconds, after all requests. */
const DELAY_MS = 100;

type Write = readonly [by: 'operator' | 'user', made: Wanted | 'reverted'];
const operator = (made: Wanted): Write => ['operator', made];
const user = (made: Wanted): Write => ['user', made];

const written = (...steps: readonly Write[]): WorkloadWrite[] => {
  let has = 'none';
  return steps.map(([by, made], index) => {
    const change = has === 'none' ? 'added' : 'updated';
    const isReverted = made === 'reverted';
    has = isReverted ? 'none' : made;
    return {
      namespace: 'shop',
      uid: 'a',
      atMs: DELAY_MS + index,
      version: index,
      generation: index + 2,
      byOperator: by === 'operator',
      isReverted,
      has,
      change: has === 'none' ? undefined : change,
      note: has === 'none' && !isReverted ? undefined : String(index),
    };
  });
};
const asked = (...wanted: readonly Wanted[]): Ask[] =>
  wanted.map((each, atMs) => ({ atMs, namespace: 'shop', wanted: each }));
const start = { generation: 1, note: undefined, isReverted: false, has: 'none' };

const reasonByKind = {
  added: 'LumigoAddedInstrumentation',
  updated: 'LumigoUpdatedInstrumentation',
  removed: 'LumigoRemovedInstrumentation',
  reverted: 'LumigoRevertedInstrumentation',
  cannotAdd: 'LumigoCannotAddInstrumentation',
} as const;
type Reasons = readonly (keyof typeof reasonByKind)[];

function counted(writes: WorkloadWrite[], asks: Ask[], events: Reasons, more: Partial<Story> = {}) {
  const reasons = events.map((each) => reasonByKind[each]);
  const found = count({ writes, asks, events: reasons, start, end: 0, fails: false, ...more });
  return ['duplicate', 'unreported', 'restarted'].map((kind) => found.filter((each) => each.startsWith(kind)).length);
}

const restartedBy = (writes: WorkloadWrite[], asks: Ask[], more: Partial<Story> = {}) =>
  counted(writes, asks, [], more).at(-1);

describe('the events of a workload', () => {
  const writes = written(operator(plain), operator(logs), operator('none'));
  it.each<[string, Reasons, number[]]>([
    ['report each change once', ['added', 'updated', 'removed'], [0, 0, 0]],
    ['report one of them twice', ['added', 'updated', 'updated', 'removed'], [1, 0, 0]],
    ['report all but one', ['added', 'removed'], [0, 1, 0]],
    ['report one twice, and another not at all', ['added', 'added', 'removed'], [1, 1, 0]],
    ['warn of a failure beside them', ['added', 'updated', 'removed', 'cannotAdd'], [0, 0, 0]],
  ])('%s', (_name, events, counts) => {
    expect(counted(writes, asked(plain, logs, 'none'), events)).toEqual(counts);
  });
});

describe('a write that the log lacks', () => {
  const writes = written(operator(plain), operator('none'), operator(plain));
  const lacking = writes.toSpliced(1, 1);
  const asks = asked(plain, 'none', plain);
  it('prevents a count of the events that follow from it', () => {
    expect(counted(lacking, asks, ['added', 'removed', 'added'])).toEqual([0, 0, 0]);
  });
  it('prevents a count of the removal if it added an injection', () => {
    expect(counted(writes.slice(1, 2), asked(plain, 'none'), ['added', 'removed'])).toEqual([0, 0, 0]);
  });
  it.each<[string, WorkloadWrite[], Ask[], Reasons]>([
    [
      'a revert',
      written(operator(plain), operator('reverted'), operator('none')),
      asked(plain, 'none'),
      ['added', 'reverted'],
    ],
    [
      'a revert of an update',
      written(operator(plain), operator(logs), operator('reverted'), operator('none')),
      asked(plain, logs, 'none'),
      ['added', 'updated', 'reverted'],
    ],
    [
      'a revert and another try',
      written(operator(plain), operator('reverted'), operator('none'), operator(logs)),
      asked(plain, 'none', logs),
      ['added', 'reverted', 'added'],
    ],
    [
      'two reverts',
      written(operator(plain), operator('reverted'), operator('none'), operator(logs), operator('reverted')),
      asked(plain, 'none', logs),
      ['added', 'reverted', 'added', 'reverted'],
    ],
    [
      'a removal',
      written(operator(plain), operator('none'), operator(plain)),
      asked(plain, 'none', plain),
      ['added', 'removed', 'added'],
    ],
    [
      'an update',
      written(operator(plain), operator(logs), operator('none')),
      asked(plain, logs, 'none'),
      ['added', 'updated', 'removed'],
    ],
  ])('is no finding in the story of %s, whichever it is', (_name, whole, asks, events) => {
    const end = whole.at(-1)?.generation ?? 0;
    for (const index of whole.keys())
      expect(counted(whole.toSpliced(index, 1), asks, events, { fails: true, end })).toEqual([0, 0, 0]);
  });
  it.each([true, false])('excuses one event and no more if the program fails: %p', (fails) => {
    expect(counted(lacking, asks, ['added', 'removed', 'removed', 'added'], { fails })).toEqual([1, 0, 0]);
  });
});

describe('generations by the operator', () => {
  it.each([
    ['what was asked for, in its order', written(operator(plain), operator(logs)), asked(plain, logs), 0],
    ['what was asked for last, all else skipped', written(operator(logs)), asked(plain, 'none', logs), 0],
    ['the same again', written(operator(plain), operator(plain)), asked(plain), 1],
    ['what no user asked for', written(operator(logs)), asked(plain), 1],
    ['what was asked for before', written(operator(logs), operator(plain)), asked(plain, logs), 1],
    ['a removal and an injection', written(operator(plain), operator('none'), operator(plain)), asked(plain), 2],
    ['again, after a user removed it', written(operator(plain), user('none'), operator(plain)), asked(plain), 0],
    ['nothing, if a user keeps it', written(operator(plain), user(plain)), asked(plain), 0],
    [
      'the same, though a user changed something else',
      written(operator(plain), user(plain), operator(plain)),
      asked(plain),
      1,
    ],
    ['the removal of what the webhook added', written(user(plain), operator('none')), asked(plain, 'none'), 0],
  ])('%s', (_name, writes, asks, restarted) => {
    expect(restartedBy(writes, asks)).toBe(restarted);
  });

  it('count if their state is requested only later', () => {
    const later = asked(plain, logs).map((ask) => ({ ...ask, atMs: ask.atMs * 2 * DELAY_MS }));
    expect(restartedBy(written(operator(logs)), later, { start: undefined })).toBe(1);
  });
});

describe('a revert', () => {
  const once = written(operator(plain), operator('reverted'));
  const again = written(operator(plain), operator('reverted'), operator(logs));
  const deployed = written(operator(plain), operator('reverted'), user('none'), operator(plain));
  const forgotten = written(operator(plain), operator('reverted'), operator('none'));
  it.each([
    ['of a program that fails', once, asked(plain), true, 0],
    ['of one that runs', once, asked(plain), false, 1],
    ['that is followed by another try', again, asked(plain, logs), true, 1],
    ['and another try after the Lumigo was deleted', again, asked(plain, 'none', logs), true, 0],
    ['and another try after a deployment', deployed, asked(plain), true, 0],
  ])('%s', (_name, writes, asks, fails, restarted) => {
    expect(restartedBy(writes, asks, { fails })).toBe(restarted);
  });

  it('is reported, and the end of its record is no removal', () => {
    expect(counted(forgotten, asked(plain, 'none'), ['added', 'reverted'], { fails: true }).slice(0, 2)).toEqual([
      0, 0,
    ]);
  });
});
