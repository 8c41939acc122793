import { afterAll, describe, expect, it } from '@jest/globals';
import pino from 'pino';
import { followCertificate, type CertificateTimes } from './serve-certificate.ts';
import { issuePair } from './issue.ts';

const stop = new AbortController();
afterAll(() => stop.abort());

const DAY = 24 * 3_600;
/** It is valid from an hour before it was issued. */
const HOUR = 3_600;

/** Returns the reported times of a certificate that is issued now, for so many days. */
async function timesOf(days: number, now: number): Promise<CertificateTimes> {
  const { certificate, key } = await issuePair('localhost', days, now);
  return new Promise((resolve) =>
    followCertificate({
      read: () => Promise.resolve({ cert: Buffer.from(certificate), key: Buffer.from(key) }),
      place: 'a test',
      untilNextCheck: (_isServed, signal) => new Promise((done) => signal.addEventListener('abort', done)),
      use: () => undefined,
      onLoaded: resolve,
      logger: pino({ enabled: false }),
      signal: stop.signal,
    }),
  );
}

describe('a certificate that is served', () => {
  it.each([
    [365, 30 * DAY],
    [90, (90 * DAY + HOUR) / 3],
    [30, (30 * DAY + HOUR) / 3],
  ])('for %i days is reported with the time it expires and the time it is due for renewal', async (days, before) => {
    const now = Math.floor(Date.now() / 1_000);
    const { expiresAt, renewalDueAt } = await timesOf(days, now * 1_000);
    expect(expiresAt).toBe(now + days * DAY);
    expect(expiresAt - renewalDueAt).toBe(Math.min(before, 30 * DAY));
  });
});
