import { expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { progressOn } from './progress.ts';

const CLEAR = '\r\u001b[K';

function startOn(isTTY: boolean, quietMs: number) {
  const written: string[] = [];
  const write = (text: string) => void written.push(text);
  const paint = (_tone: string, text: string) => text;
  const shell = {
    stderr: { isTTY, write },
    print: write,
    note: write,
    write,
    paint,
    isTerminal: true,
    environment: {},
  };
  const progress = progressOn(shell, quietMs);
  progress.step('reading pods');
  return { ...progress, written };
}

/** Returns the progress of a command that is slow enough to show its first step. */
async function slow() {
  const started = startOn(true, 1);
  await sleep(5);
  expect(started.written.splice(0)).toEqual([`${CLEAR}reading pods …`]);
  return started;
}

it('shows the present step on one line of a terminal, and clears it', async () => {
  const { step, end, written } = await slow();
  step('reading events');
  end();
  expect(written).toEqual([`${CLEAR}reading events …`, CLEAR]);
});

it.each(['print', 'write'] as const)('clears its line before a result (%s)', async (way) => {
  const { written, ...progress } = await slow();
  progress[way]('a result\n');
  progress.step('reading events');
  progress.end();
  expect(written).toEqual([CLEAR, 'a result\n']);
});

it('shows its line again below a note', async () => {
  const { note, end, written } = await slow();
  note('a note\n');
  end();
  expect(written).toEqual([CLEAR, 'a note\n', `${CLEAR}reading pods …`, CLEAR]);
});

it.each([
  ['the command is quick', true, 60_000],
  ['standard error is no terminal', false, 1],
])('shows nothing if %s', async (_case, isTTY, quietMs) => {
  const { end, written } = startOn(isTTY, quietMs);
  await sleep(5);
  end();
  expect(written).toEqual([]);
});
