import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { progressOn } from './progress.ts';

const CLEAR = '\r\u001b[K';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

function startOn(isTTY: boolean, quietMs: number) {
  const written: string[] = [];
  const write = (text: string) => void written.push(text);
  const progress = progressOn({ stderr: { isTTY, write }, note: write, write } as never, quietMs);
  progress.step('reading pods');
  return { ...progress, written };
}

/** Returns the progress of a command that is slow enough to show its first step. */
function slow() {
  const started = startOn(true, 1);
  jest.advanceTimersByTime(1);
  expect(started.written.splice(0)).toEqual([`${CLEAR}reading pods …`]);
  return started;
}

it('shows the present step on one line of a terminal, and clears it', () => {
  const { step, end, written } = slow();
  step('reading events');
  end();
  expect(written).toEqual([`${CLEAR}reading events …`, CLEAR]);
});

it('clears its line before a result', () => {
  const { written, ...progress } = slow();
  progress.write('a result\n');
  progress.step('reading events');
  progress.end();
  expect(written).toEqual([CLEAR, 'a result\n']);
});

it('shows its line again below a note', () => {
  const { note, end, written } = slow();
  note('a note\n');
  end();
  expect(written).toEqual([CLEAR, 'a note\n', `${CLEAR}reading pods …`, CLEAR]);
});

it.each([
  ['the command is quick', true, 60_000],
  ['standard error is no terminal', false, 1],
])('shows nothing if %s', (_case, isTTY, quietMs) => {
  const { end, written } = startOn(isTTY, quietMs);
  jest.advanceTimersByTime(5);
  end();
  expect(written).toEqual([]);
});
