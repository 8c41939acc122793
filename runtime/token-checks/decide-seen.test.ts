import { describe, expect, it } from '@jest/globals';
import { tokenSeen } from './decide-seen.ts';

const place = { namespace: 'shop', name: 'lumigo-credentials', key: 'token' };
const asked = (verdict: 'accepted' | 'refused' | undefined) => ({ at: 0, verdict, refusals: 2, status: 401 });

describe('the result of the token checks', () => {
  it('is empty until the endpoint has answered [F29]', () => {
    expect(tokenSeen(place, undefined)).toEqual({});
    expect(tokenSeen(place, asked(undefined))).toEqual({});
  });

  it('says that the endpoint accepts the token [F29]', () => {
    expect(tokenSeen(place, asked('accepted'))).toEqual({ accepted: 'working' });
  });

  it('names the Secret with the refused token, and the status of the refusal [F29]', () => {
    const { accepted } = tokenSeen(place, asked('refused'));
    expect(accepted).toMatchObject({
      reason: 'TokenRefused',
      message: expect.stringMatching(/'shop\/lumigo-credentials' \(HTTP 401\)/),
    });
  });
});
