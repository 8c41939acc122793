import { describe, expect, it } from '@jest/globals';
import { afterReading, planReading, type Priority, type ReadingState } from './plan-reading.ts';

interface State extends ReadingState {
  readonly is?: string;
}

const NOW = 1_000_000;
const good: State = {
  namespace: 'a',
  readAt: NOW - 1_000,
  reportedAt: undefined,
  retryAt: -Infinity,
  isAwaited: false,
  isAnnounced: false,
};
const ago = (ms: number, more: Partial<State> = {}): State => ({ ...good, readAt: NOW - ms, ...more });
const unread: State = { ...good, readAt: undefined, reportedAt: NOW };

describe('the Secret to read next', () => {
  const cases: [string, boolean, State[], Partial<Record<Priority, number>>, object][] = [
    ['none, where there is none', true, [], {}, { at: Infinity }],
    ['one never read, at once', true, [good, unread], {}, { priority: 'first', read: unread }],
    ['on a follower, too', false, [unread], {}, { priority: 'first' }],
    ['100 a second of those', true, [unread], { first: NOW - 4 }, { at: NOW + 6 }],
    ['one that something tells of', false, [ago(5, { reportedAt: NOW })], {}, { priority: 'told' }],
    ['two a second of those', false, [ago(5, { reportedAt: NOW })], { told: NOW - 100 }, { at: NOW + 400 }],
    ['not before it is time', true, [ago(5, { reportedAt: NOW + 7 })], {}, { at: NOW + 7 }],
    ['a good one after 15 s', true, [ago(15_000)], {}, { priority: 'regular' }],
    ['and not before', true, [ago(14_000)], {}, { at: NOW + 1_000 }],
    ['the one that waits longest', true, [ago(20_000), ago(30_000, { is: 'older' })], {}, { read: { is: 'older' } }],
    ['0.8 a second of those', true, [ago(20_000)], { regular: NOW - 250 }, { at: NOW + 1_000 }],
    ['an awaited one after 3 s', true, [ago(3_000, { isAwaited: true }), ago(60_000)], {}, { priority: 'awaited' }],
    ['at their common pace', true, [ago(3_000, { isAwaited: true })], { regular: NOW - 1_000 }, { at: NOW + 250 }],
    [
      'a good one between two awaited ones',
      true,
      [ago(9_000, { isAwaited: true }), ago(60_000)],
      { awaited: NOW - 1_250 },
      { priority: 'regular' },
    ],
    ['on a follower, none that a status reports', false, [ago(9e9, { isAnnounced: true })], {}, { at: Infinity }],
    ['on a follower, one after 15 s', false, [ago(15_000)], {}, { priority: 'regular' }],
    ['on a follower, none before that', false, [ago(14_000)], {}, { at: NOW + 1_000 }],
    ['on a follower, one every ten seconds', false, [ago(60_000)], { regular: NOW - 9_000 }, { at: NOW + 1_000 }],
    ['on a follower, an awaited one after 3 s', false, [ago(3_000, { isAwaited: true })], {}, { priority: 'awaited' }],
    [
      'on a follower, no awaited one that a status reports',
      false,
      [ago(9e9, { isAwaited: true, isAnnounced: true })],
      {},
      { at: Infinity },
    ],
    [
      'on a follower, an awaited one every 16 s',
      false,
      [ago(3_000, { isAwaited: true })],
      { awaited: NOW - 15_000 },
      { at: NOW + 1_000 },
    ],
    ['nothing that failed, until its time', true, [{ ...unread, retryAt: NOW + 9 }], {}, { at: NOW + 9 }],
  ];
  it.each(cases)('%s', (_what, leads, states, last, expected) => {
    expect(planReading(states, { leads, last: new Map(Object.entries(last)), now: NOW })).toMatchObject(expected);
  });
});

function simulate(states: readonly State[], leads: boolean, seconds: number): { at: number; state: State }[] {
  const now = { ms: NOW };
  const known = states.map((state) => ({ ...state }));
  let last: ReadonlyMap<string, number> = new Map();
  const readings: { at: number; state: State }[] = [];
  while (now.ms < NOW + seconds * 1_000) {
    const plan = planReading(known, { leads, last, now: now.ms });
    if (plan.read === undefined) {
      now.ms = plan.at;
      continue;
    }
    const { read, priority } = plan;
    last = afterReading(last, priority, read.namespace, now.ms);
    readings.push({ at: now.ms, state: read });
    Object.assign(read, { readAt: now.ms, reportedAt: undefined });
  }
  return readings;
}

function mostPerMinute(readings: readonly { at: number }[], settleMs = 0): number {
  const times = readings.map(({ at }) => at).filter((at) => at >= NOW + settleMs);
  return Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + 60_000).length));
}

const many = (count: number, state: State): State[] =>
  Array.from({ length: count }, (_, index) => ({ ...state, is: `${state.is ?? ''}${index}` }));

function longest(readings: readonly { at: number; state: State }[], is: string): number {
  const times = readings.filter(({ state }) => state.is === is).map(({ at }) => at);
  return Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? 0))) / 1_000;
}

describe('reading in the long run [F9]', () => {
  it.each([1, 12, 120, 1_000])('costs the leader of %d Secrets at most 48 requests a minute', (count) => {
    expect(mostPerMinute(simulate(many(count, ago(20_000)), true, 200))).toBeLessThanOrEqual(48);
  });

  it('costs four requests a minute for one Secret', () => {
    expect(mostPerMinute(simulate([ago(0)], true, 600))).toBe(4);
  });

  it.each([
    [1, 15],
    [12, 15],
    [24, 30],
    [120, 150],
  ])('reads each of %d Secrets every %d s', (count, seconds) => {
    expect(longest(simulate(many(count, { ...ago(0), is: 'x' }), true, 900), 'x0')).toBe(seconds);
  });

  it.each([
    ['one among 120', 1, 120, 5],
    ['two', 2, 0, 5],
    ['60 at once', 60, 0, 121],
  ])('reads awaited Secrets soon: %s', (_what, awaited, others, seconds) => {
    const states = [...many(awaited, { ...ago(0), isAwaited: true, is: 'x' }), ...many(others, ago(0))];
    const readings = simulate(states, true, 900);
    expect(longest(readings, 'x0')).toBeLessThan(seconds);
    expect(mostPerMinute(readings)).toBeLessThanOrEqual(48);
  });

  it('reads the others in turn while many are awaited', () => {
    const states = [...many(60, { ...ago(0), isAwaited: true, is: 'x' }), ...many(12, { ...ago(0), is: 'y' })];
    expect(longest(simulate(states, true, 900), 'y0')).toBeLessThan(45);
  });

  it('costs each other replica at most six requests a minute', () => {
    const states = [
      ...many(100, ago(0)),
      ...many(100, ago(0, { isAnnounced: true })),
      ...many(50, ago(0, { isAwaited: true })),
    ];
    expect(mostPerMinute(simulate(states, false, 900))).toBeLessThanOrEqual(6);
  });

  it('begins with a burst of 100 requests a second at most', () => {
    const readings = simulate(many(160, unread), true, 10);
    expect(readings.length).toBe(160);
    expect(readings.filter(({ at }) => at < NOW + 1_000).length).toBe(100);
  });
});

describe('namespaces', () => {
  const crowd = (state: Partial<State>) => many(40, { ...ago(60_000, state), is: 'a' });
  const other = (state: Partial<State>): State => ({ ...ago(16_000, state), namespace: 'b', is: 'b' });
  const priorities: [Priority, Partial<State>][] = [
    ['first', { readAt: undefined }],
    ['told', { reportedAt: NOW - 1 }],
    ['awaited', { isAwaited: true }],
    ['regular', {}],
  ];

  it.each(priorities)(
    'take turns: with 40 due Secrets of another one, the next two include its own (%s)',
    (_, state) => {
      const isRead = simulate([...crowd(state), other(state)], true, 60).map(({ state: { is } }) => is === 'b');
      expect(isRead.slice(0, 2)).toContain(true);
    },
  );

  it.each(priorities)('come by the time of their last turn of the same priority (%s)', (priority, state) => {
    const states = [...crowd(state), other(state)];
    const reads = (turns: object) =>
      planReading(states, { leads: true, last: new Map(Object.entries(turns)), now: NOW }).read?.namespace;
    expect(reads({ [`${priority}/a`]: NOW - 9_000, [`${priority}/b`]: NOW - 10_000 })).toBe('b');
    expect(reads({ [`${priority}/a`]: NOW - 9_000, [`${priority}/b`]: NOW - 8_000 })).toBe('a');
    expect(reads({ [`${priority}/a`]: NOW - 9_000 })).toBe('b');
  });

  it('keep a missing Secret at its pace while another one lacks 40, and has 40 reported', () => {
    const states = [...crowd({ isAwaited: true }), ...crowd({ reportedAt: NOW }), other({ isAwaited: true })];
    expect(longest(simulate(states, true, 900), 'b')).toBeLessThanOrEqual(5);
  });

  it('have a turn that is forgotten after an hour, so memory ends with them', () => {
    const hourAgo = new Map([['told/b', NOW - 60 * 60_000]]);
    expect([...afterReading(hourAgo, 'told', 'a', NOW)]).toEqual([
      ['told', NOW],
      ['told/a', NOW],
    ]);
  });
});
