import { pino, type Logger } from 'pino';

/**
 * The operator's log: JSON lines on standard output. Messages are constant, what varies is a key. Whatever could hold a
 * credential is cut out by key, should anybody ever log it.
 */
export function createLogger(level: 'error' | 'warn' | 'info' | 'debug'): Logger {
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: ['token', 'authorization', 'headers.authorization', '*.token', '*.authorization'],
      censor: '[cut]',
    },
  });
}
