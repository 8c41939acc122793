import { pino, type Logger } from 'pino';
import { printable } from '../wording/printable.ts';
import { withoutTokens } from '../wording/token.ts';

/** Writes JSON lines with constant messages, without tokens and controls of a terminal. Fields that may have another credential are redacted. */
export function createLogger(level: 'error' | 'warn' | 'info' | 'debug'): Logger {
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    hooks: { streamWrite: (line) => printable(withoutTokens(line)) },
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: ['token', 'authorization', 'headers.authorization', '*.token', '*.authorization'],
      censor: '[cut]',
    },
  });
}
