import { expect, it } from '@jest/globals';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { progressOn } from './progress.ts';

it('shows the present step once the command is slow, and each later step', async () => {
  const stream = new PassThrough({ encoding: 'utf8' });
  const progress = progressOn(stream, 1);
  progress.step('reading pods');
  const [shown] = (await once(stream, 'data')) as [string];
  progress.step('reading events');
  progress.end();
  expect([shown, stream.read()]).toEqual(['reading pods …\n', 'reading events …\n']);
});

it('keeps to one line of a terminal, and clears it', async () => {
  const stream = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true });
  const progress = progressOn(stream, 1);
  progress.step('reading pods');
  await once(stream, 'data');
  progress.end();
  expect(stream.read()).toBe('\r\u001b[K');
});

it('shows nothing if the command is quick', () => {
  const stream = new PassThrough({ encoding: 'utf8' });
  const progress = progressOn(stream, 60_000);
  progress.step('reading pods');
  progress.end();
  expect(stream.read()).toBeNull();
});
