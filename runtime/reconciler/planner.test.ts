import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { stat } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Planner } from './planner.ts';

let stop: AbortController;
beforeEach(() => void (stop = new AbortController()));
afterEach(() => stop.abort());

const names = Array.from({ length: 100 }, (_, index) => `namespace-${index}`);

/** Plans that take 5 ms each. Returns those that ran, after the last one or the end of the term. */
async function plan(onPlan: (planned: readonly string[]) => void): Promise<readonly string[]> {
  const planned: string[] = [];
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => void (end = resolve));
  const work = (namespace: string): number => {
    for (const until = performance.now() + 5; performance.now() < until;);
    planned.push(namespace);
    onPlan(planned);
    if (stop.signal.aborted || planned.length === names.length) end();
    return Infinity;
  };
  const planner = new Planner(work, { signal: stop.signal, lumigoesRead: { isCurrent: true } });
  for (const each of names) planner.request(each);
  await ended;
  // One plan runs in a turn, so any further one would run now.
  for (let turn = 0; turn < 2 * names.length; turn += 1) await nextTurn();
  return planned;
}

it('plans in the order of the requests, and lets answers arrive between two plans', async () => {
  let plannedBefore = names.length;
  const planned = await plan((soFar) => {
    if (soFar.length === 1) void stat('.').then(() => (plannedBefore = soFar.length));
  });
  expect(planned).toEqual(names);
  expect(plannedBefore).toBeLessThan(names.length / 2);
});

it('plans no more after the end of the term, also what is due', async () => {
  const planned = await plan(({ length }) => {
    if (length === 3) stop.abort();
  });
  expect(planned).toEqual(names.slice(0, 3));
});
