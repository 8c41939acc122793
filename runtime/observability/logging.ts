import { pino, type Logger } from 'pino';

/** Writes JSON lines with constant messages. Fields that may have a credential are redacted. */
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
