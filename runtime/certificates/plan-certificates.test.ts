import { describe, expect, it } from '@jest/globals';
import { issuePair } from './issue.ts';
import { areTrusting, isPairDue, getLifetime, withAuthority, type CertificateFiles } from './plan-certificates.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const host = 'webhooks.lumigo-system.svc';
const now = Date.parse('2026-11-25T12:00:00Z');
/** Each pair is valid from an hour before it is issued. */
const [pair, other, short] = await Promise.all([365, 365, 3].map((days) => issuePair(host, days, now)));
if (pair === undefined || other === undefined || short === undefined) throw new Error('nothing was issued');

describe('a new certificate', () => {
  it.each<[boolean, string, CertificateFiles, number]>([
    [false, 'while it works', pair, now],
    [false, 'until its last month', pair, now + 335 * DAY - 1],
    [true, 'in its last month', pair, now + 335 * DAY],
    [true, 'after it has expired', pair, now + 366 * DAY],
    [false, 'until the last third of a short life', short, now + 3 * DAY - (3 * DAY + HOUR) / 3 - 1],
    [true, 'in the last third of a short life', short, now + 3 * DAY - (3 * DAY + HOUR) / 3],
    [false, 'if the clock that issued it is a few minutes ahead', pair, now - HOUR - 5 * 60_000],
    [true, 'if the clock that issued it is far ahead', pair, now - HOUR - 5 * 60_000 - 1],
    [true, 'if it cannot be read', { ...pair, certificate: 'x' }, now],
    [true, 'if its key is of another one', { ...pair, key: other.key }, now],
    [true, 'if its key cannot be read', { ...pair, key: 'x' }, now],
    [true, 'if its authority is missing', { ...pair, authority: '' }, now],
    [true, 'if its authority did not sign it', { ...pair, authority: other.authority }, now],
    [false, 'if one of its authorities signed it', { ...pair, authority: `${other.authority}${pair.authority}` }, now],
  ])('is due (%s) %s', (expected, _case, given, at) => expect(isPairDue(given, host, at)).toBe(expected));

  it('is due if there is none, or if the API server uses another name', () => {
    expect(isPairDue(undefined, host, now)).toBe(true);
    for (const name of ['other.svc', '10.0.0.1']) expect(isPairDue(pair, name, now)).toBe(true);
  });

  it('is reported with the time it expires and the time it is due for renewal', () => {
    const notBefore = now - HOUR;
    const notAfter = now + 365 * DAY;
    expect(getLifetime(pair.certificate)).toEqual({ notBefore, notAfter, renewalDueAt: notAfter - 30 * DAY });
  });
});

describe('a bundle of authorities', () => {
  it('trusts an added authority, beside the valid former ones', () => {
    const bundle = withAuthority(short.authority, pair.authority, now);
    expect([pair, short, other].map(({ authority }) => areTrusting([bundle], authority))).toEqual([true, true, false]);
    expect(areTrusting([bundle, ''], pair.authority)).toBe(false);
    const later = withAuthority(bundle, other.authority, now + 3 * DAY);
    expect([pair, short, other].map(({ authority }) => areTrusting([later], authority))).toEqual([true, false, true]);
  });

  it('keeps three, each once, the last one first', async () => {
    const authorities = await Promise.all([1, 2, 3, 4].map(async () => (await issuePair(host, 1, now)).authority));
    const added = [...authorities, authorities[3] ?? ''];
    const bundle = added.reduce((before, authority) => withAuthority(before, authority, now), '');
    expect(bundle.match(/-----BEGIN[^]*?END CERTIFICATE-----\n/g)).toEqual(
      authorities
        .slice(1)
        .toReversed()
        .map((pem) => `${pem.trim()}\n`),
    );
  });
});
