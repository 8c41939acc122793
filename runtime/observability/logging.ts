import { pino, type Logger } from 'pino';
import { withoutTokens } from '../wording/token.ts';

/** Writes JSON lines with constant messages, without tokens. Fields that may have another credential are redacted. */
export function createLogger(level: 'error' | 'warn' | 'info' | 'debug'): Logger {
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    hooks: { streamWrite: withoutTokens },
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: ['token', 'authorization', 'headers.authorization', '*.token', '*.authorization'],
      censor: '[cut]',
    },
  });
}
