import { styleText } from 'node:util';
import type { Tone } from '../diagnostics/table.ts';
import { once } from '../wording/once.ts';
import { printable } from '../wording/printable.ts';
import type { Shell } from './invocation.ts';

const colors = { good: 'green', bad: 'red', unsure: 'yellow', plain: 'reset' } as const satisfies Record<Tone, string>;

/** Colors are for a terminal only, and NO_COLOR disables them. */
export const processShell = (): Shell => {
  const { stdout, stderr, env } = process;
  const isTerminal = stdout.isTTY === true;
  const isColored = isTerminal && (env['NO_COLOR'] ?? '') === '';
  return {
    print: (text) => stdout.write(`${printable(text)}\n`),
    write: (text) => stdout.write(`${text}\n`),
    note: once((text) => stderr.write(`${printable(text)}\n`)),
    paint: (tone, text) =>
      isColored && tone !== 'plain' ? styleText(colors[tone], text, { validateStream: false }) : text,
    isTerminal,
    environment: env,
    stderr,
  };
};
