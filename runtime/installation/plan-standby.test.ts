import { describe, expect, it } from '@jest/globals';
import { annotations } from '../contract.ts';
import { actingFirst, DEAD_AFTER_MS, findInstallation, isActive, olderThan } from './plan-standby.ts';
import { seeManager, seeNothing } from './plan-standby.ts';

const installation = (operatorName: string, createdAt: string, uid = operatorName) => ({
  operatorNamespace: 'lumigo',
  operatorName,
  createdAt,
  uid,
});
const old = installation('a', '2026-01-01');
const middle = installation('b', '2026-01-02');
const young = installation('c', '2026-01-03');

describe('olderThan', () => {
  it('finds the older installations, oldest first [F71]', () => {
    expect(olderThan(young, [young, middle, old])).toEqual([old, middle]);
    expect(olderThan(old, [young, middle, old])).toEqual([]);
  });

  it('counts an installation without a webhook configuration as the youngest [F71]', () => {
    expect(olderThan(old, [middle])).toEqual([middle]);
    expect(olderThan(old, [])).toEqual([]);
  });

  it('orders two that were created in the same second the same way everywhere [F71]', () => {
    const twins = [installation('x', '2026-01-01', '2'), installation('y', '2026-01-01', '1')] as const;
    expect(olderThan(twins[0], twins)).toEqual([twins[1]]);
    expect(olderThan(twins[1], twins.toReversed())).toEqual([]);
  });
});

describe('actingFirst', () => {
  const manager = (operatorName: string, isAvailable = true) => ({
    operatorNamespace: 'lumigo',
    operatorName,
    isAvailable,
  });
  const names = (found: readonly { readonly operatorName: string }[]) => found.map(({ operatorName }) => operatorName);

  it('begins with the oldest installation that is available', () => {
    const found = [manager('c'), manager('b'), manager('a', false)];
    expect(names(actingFirst(found, [young, middle, old]))).toEqual(['b', 'c', 'a']);
    expect(names(actingFirst([manager('c'), manager('a')], [young, old]))).toEqual(['a', 'c']);
  });

  it('leaves out a Deployment without a webhook configuration, unless no other one is known', () => {
    const found = [manager('forged'), manager('b', false)];
    expect(names(actingFirst(found, [middle]))).toEqual(['b']);
    expect(names(actingFirst(found, []))).toEqual(['forged', 'b']);
  });
});

describe('findInstallation', () => {
  it.each([undefined, '', 'lumigo', 'lumigo/', '/a', 'a/b/c'])(
    'ignores a configuration with the annotation %j',
    (text) => {
      const given = text === undefined ? {} : { [annotations.installation]: text };
      expect(findInstallation({ annotations: given })).toBeUndefined();
    },
  );

  it('reads the namespace and the name', () => {
    const metadata = { annotations: { [annotations.installation]: 'lumigo/a' }, uid: 'u', creationTimestamp: 't' };
    expect(findInstallation(metadata)).toEqual(installation('a', 't', 'u'));
  });
});

describe('isActive', () => {
  it('does not take one for dead while the API server gives no answer', () => {
    let seen = seeManager(undefined, 1, 0);
    for (let now = 0; now < 10 * DEAD_AFTER_MS; now += DEAD_AFTER_MS / 2) seen = seeNothing(now, seen);
    expect(isActive(seen, 10 * DEAD_AFTER_MS)).toBe(true);
    const dying = seeNothing(90_000, seeManager(seeManager(undefined, 1, 0), 0, 50_000));
    expect([isActive(dying, 99_999), isActive(dying, 100_000)]).toEqual([true, false]);
    const gone = seeManager(seen, undefined, 0);
    expect(isActive(seeNothing(1, gone), 1)).toBe(false);
    expect(isActive(seeNothing(1), 1)).toBe(true);
  });

  it('takes an installation without a Deployment for dead at once [F71]', () => {
    expect(isActive(seeManager(undefined, undefined, 0), 0)).toBe(false);
    expect(isActive(undefined, 0)).toBe(false);
    const gone = seeManager(seeManager(undefined, 1, 0), undefined, DEAD_AFTER_MS - 1);
    expect(isActive(seeManager(gone, 0, DEAD_AFTER_MS), DEAD_AFTER_MS)).toBe(false);
  });

  it('takes one without an available replica for dead after a while, until it is available [F71]', () => {
    const first = seeManager(undefined, 0, 1_000);
    expect(isActive(first, 1_000 + DEAD_AFTER_MS - 1)).toBe(true);
    const still = seeManager(first, 0, 1_000 + DEAD_AFTER_MS);
    expect(isActive(still, 1_000 + DEAD_AFTER_MS)).toBe(false);
    expect(isActive(seeManager(still, 1, 100_000), 100_000)).toBe(true);
  });
});
