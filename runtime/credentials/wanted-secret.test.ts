import { describe, expect, it } from '@jest/globals';
import type { Credential } from './credential.ts';
import { WantedSecret } from './wanted-secret.ts';

const source = { namespace: 'shop', name: 'credentials', key: 'token' };
const at = (hour: number): string => `2026-11-22T${hour}:00:00Z`;
const holding = (number: number, hour: number): Credential => ({
  ...{ token: `t_${String(number).padStart(21, '0')}`, version: String(hour), writtenAt: at(hour) },
});
const missing: Credential = { problem: { reason: 'SecretNotFound', message: '' } };

/** What is said of the last of several credentials that stood there one after the other. */
function replaced(...credentials: readonly Credential[]) {
  const secret = new WantedSecret(source.namespace, source.name);
  secret.want('test', [source], 0);
  for (const credential of credentials) secret.learn(() => credential);
  const last = secret.credentials.get(source.key);
  return last?.token === undefined ? undefined : last.replaced;
}

describe('F29: a token took the place of another one', () => {
  it.each([
    ['never, where it is the first that is seen', [holding(1, 10)], undefined],
    ['never, where the Secret is written again with the same', [holding(1, 10), holding(1, 11)], undefined],
    ['when it was written', [holding(1, 10), holding(2, 11)], { until: at(11) }],
    ['when it was written first', [holding(1, 10), holding(2, 11), holding(2, 12)], { until: at(11) }],
    ['also where the Secret was away in between', [holding(1, 10), missing, holding(2, 11)], { until: at(11) }],
    ['the last time, of several', [holding(1, 10), holding(2, 11), holding(3, 12)], { until: at(12) }],
    [
      'that stood there in between, where it is back',
      [holding(1, 10), holding(2, 11), holding(1, 12)],
      { since: at(11), until: at(12) },
    ],
  ])('%s', (_case, credentials, expected) => {
    expect(replaced(...credentials)).toEqual(expected);
  });
});
