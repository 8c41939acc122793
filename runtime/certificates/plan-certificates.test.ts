import { describe, expect, it } from '@jest/globals';
import { planCertificates, type PairFacts } from './plan-certificates.ts';

const DAY = 24 * 3_600_000;
const pair: PairFacts = { notBefore: 0, notAfter: 365 * DAY, fits: true };
const plan = (now: number, given: PairFacts | undefined = pair, trusted = true) =>
  planCertificates({ pair: given, trusted, now });

describe('the certificate of the webhook', () => {
  it('is left alone while it works and is trusted', () => {
    expect(plan(1 * DAY)).toBe('nothing');
    expect(plan(334 * DAY)).toBe('nothing');
  });

  it('is announced where the API server does not trust it', () => {
    expect(plan(1 * DAY, pair, false)).toBe('trust');
  });

  it('is renewed in its last month, trusted or not, while it still works', () => {
    expect(plan(335 * DAY)).toBe('renew');
    expect(plan(364 * DAY, pair, false)).toBe('renew');
  });

  it('is replaced at once when it has ended, is not there, or does not fit', () => {
    expect(plan(365 * DAY)).toBe('replace');
    expect(planCertificates({ pair: undefined, trusted: true, now: DAY })).toBe('replace');
    expect(plan(1 * DAY, { ...pair, fits: false })).toBe('replace');
  });

  it('is replaced when it was issued by a clock that ran ahead, but not for a few minutes', () => {
    const future = { ...pair, notBefore: 10 * DAY };
    expect(plan(1 * DAY, future)).toBe('replace');
    expect(plan(10 * DAY - 60_000, future)).toBe('nothing');
  });

  it('of a short life is renewed in its last third', () => {
    const short = { ...pair, notAfter: 3 * DAY };
    expect([plan(2 * DAY - 1, short), plan(2 * DAY, short)]).toEqual(['nothing', 'renew']);
  });
});
