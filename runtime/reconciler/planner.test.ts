import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Planner } from './planner.ts';

let stop: AbortController;
beforeEach(() => void (stop = new AbortController()));
afterEach(() => stop.abort());

const names = Array.from({ length: 100 }, (_, index) => `namespace-${index}`);

/** Plans that take 5 ms each. Returns those that ran until the last one, or until no more do. */
async function plan(onPlan: (planned: readonly string[]) => void): Promise<readonly string[]> {
  const planned: string[] = [];
  const work = (namespace: string): number => {
    for (const end = performance.now() + 5; performance.now() < end;);
    planned.push(namespace);
    onPlan(planned);
    return Infinity;
  };
  const planner = new Planner(work, { signal: stop.signal, lumigoesRead: { isCurrent: true } });
  for (const each of names) planner.request(each);
  for (let before = -1; before < planned.length;) {
    before = planned.length;
    await sleep(100);
  }
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
