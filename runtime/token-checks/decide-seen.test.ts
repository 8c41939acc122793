import { describe, expect, it } from '@jest/globals';
import { tokenSeen } from './decide-seen.ts';

const place = { namespace: 'shop', name: 'lumigo-credentials', key: 'token' };
const until = '2026-11-22T10:00:00Z';
const asked = (verdict: 'accepted' | 'refused' | undefined) => ({ at: 0, verdict, refusals: 2, status: 401 });
const found = (pods: number, workloads: string[] = [], replacedAt = until) => ({ at: 0, replacedAt, pods, workloads });
const nothing = { asked: undefined, found: undefined };

describe('F29: what is said of a token', () => {
  it('nothing that was never checked', () => {
    expect(tokenSeen(place, { until }, nothing)).toEqual({});
    expect(
      tokenSeen(place, { until }, { asked: asked(undefined), found: found(3, [], '2026-01-01T00:00:00Z') }),
    ).toEqual({});
  });

  it('that it is taken, and that no other one was there', () => {
    expect(tokenSeen(place, undefined, { ...nothing, asked: asked('accepted') })).toEqual({
      accepted: 'working',
      current: 'working',
    });
  });

  it('that it is refused, where it stands and what to do', () => {
    const { accepted } = tokenSeen(place, undefined, { ...nothing, asked: asked('refused') });
    expect(accepted).toMatchObject({
      reason: 'TokenRefused',
      message: expect.stringContaining("'shop/lumigo-credentials'"),
    });
    expect(accepted).toMatchObject({ message: expect.stringContaining('HTTP 401') });
  });

  it('how many pods go on with the former one, and what to restart', () => {
    const { current } = tokenSeen(
      place,
      { until },
      {
        ...nothing,
        found: found(
          9,
          ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => `Deployment/${name}`),
        ),
      },
    );
    expect(current).toMatchObject({
      reason: 'FormerTokenInUse',
      message: expect.stringMatching(/^9 pods started before .* Restart Deployment\/a, .*Deployment\/e and 2 more$/),
    });
    expect(tokenSeen(place, { until }, { ...nothing, found: found(0) })).toEqual({ current: 'working' });
  });
});
