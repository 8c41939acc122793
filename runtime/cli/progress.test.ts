import { expect, it } from '@jest/globals';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { Shell } from './invocation.ts';
import { progressOn } from './progress.ts';

const shellOn = (stderr: PassThrough): Shell => {
  const write = (text: string) => void stderr.write(text);
  const paint = (_tone: string, text: string) => text;
  return { stderr, print: write, note: write, write, paint, isTerminal: true, environment: {} };
};
const terminal = () => Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true });
const readAll = (stream: PassThrough): string => {
  const chunk = stream.read() as string | null;
  return chunk === null ? '' : chunk + readAll(stream);
};
const CLEAR = '\r\u001b[K';

/** Returns the progress of a command that is slow enough to show its first step. */
async function slow(stream: PassThrough) {
  const progress = progressOn(shellOn(stream), 1);
  progress.step('reading pods');
  const [shown] = (await once(stream, 'data')) as [string];
  return { ...progress, shown };
}

it('shows the present step once the command is slow, and each later step', async () => {
  const stream = new PassThrough({ encoding: 'utf8' });
  const { step, end, shown } = await slow(stream);
  step('reading events');
  end();
  expect([shown, stream.read()]).toEqual(['reading pods …\n', 'reading events …\n']);
});

it('keeps to one line of a terminal, and clears it', async () => {
  const stream = terminal();
  const { end } = await slow(stream);
  end();
  expect(stream.read()).toBe(CLEAR);
});

it.each(['print', 'write'] as const)('clears its line of a terminal before a result (%s)', async (way) => {
  const stream = terminal();
  const progress = await slow(stream);
  progress[way]('a result\n');
  progress.step('reading events');
  progress.end();
  expect(readAll(stream)).toBe(`${CLEAR}a result\n`);
});

it('shows the line of a terminal again below a note', async () => {
  const stream = terminal();
  const { note, end } = await slow(stream);
  note('a note\n');
  end();
  expect(readAll(stream)).toBe(`${CLEAR}a note\n${CLEAR}reading pods …${CLEAR}`);
});

it('shows nothing if the command is quick', () => {
  const stream = new PassThrough({ encoding: 'utf8' });
  const progress = progressOn(shellOn(stream), 60_000);
  progress.step('reading pods');
  progress.end();
  expect(stream.read()).toBeNull();
});
