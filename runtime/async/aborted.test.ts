import { expect, it } from '@jest/globals';
import { aborted } from './aborted.ts';

it('waits for an abort, also for one that was before', async () => {
  const stop = new AbortController();
  let isOver = false;
  const waited = aborted(stop.signal).then(() => (isOver = true));
  await new Promise(setImmediate);
  expect(isOver).toBe(false);
  stop.abort();
  await waited;
  await aborted(stop.signal);
});
