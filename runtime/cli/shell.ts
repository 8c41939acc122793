import { styleText } from 'node:util';
import type { Tone } from '../diagnostics/table.ts';
import { once } from '../wording/once.ts';
import { printable } from '../wording/printable.ts';

const colors = { good: 'green', bad: 'red', unsure: 'yellow', plain: 'reset' } as const satisfies Record<Tone, string>;

/** Colors are for a terminal only, and NO_COLOR disables them. */
export function processShell() {
  const { stdout, stderr, env } = process;
  const isTerminal = stdout.isTTY === true;
  const isColored = isTerminal && (env['NO_COLOR'] ?? '') === '';
  return {
    /** Writes a part of the result, which may have colors. */
    write: (text: string): void => void stdout.write(`${text}\n`),
    /** Writes a note for a person, which is not part of the result, to standard error. */
    note: once((text) => stderr.write(`${printable(text)}\n`)),
    paint: (tone: Tone, text: string): string =>
      isColored && tone !== 'plain' ? styleText(colors[tone], text, { validateStream: false }) : text,
    isTerminal,
    environment: env,
    stderr,
  };
}

export type Shell = ReturnType<typeof processShell>;
