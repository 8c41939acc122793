import { describe, expect, it } from '@jest/globals';
import { lumigo as contract } from '../contract.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { LumigoStates } from './lumigo-states.ts';

const named = (uid: string): LumigoResource => ({
  apiVersion: contract.apiVersion,
  kind: contract.kind,
  metadata: { namespace: 'shop', name: 'lumigo', uid },
});
const lumigo = named('l');
const fresh = { resource: lumigo, isBusy: false, statusAt: -Infinity, listedAt: 0 };

describe('the state of a Lumigo that the operator writes to', () => {
  it('is kept while the Lumigo exists', () => {
    const states = new LumigoStates();
    expect(states.observe('shop', [lumigo])).toEqual([fresh]);
    states.note(lumigo, { isBusy: true });
    states.note(lumigo, { listed: [] });
    const changed = { ...lumigo, spec: {} };
    expect(states.observe('shop', [changed, named('m')])).toEqual([
      { ...fresh, resource: changed, isBusy: true, listed: [] },
      { ...fresh, resource: named('m') },
    ]);
  });

  it.each([
    ['the last one of its namespace', []],
    ['one of several', [named('m')]],
  ])('is forgotten when the Lumigo no longer exists: %s', (_title, others) => {
    const states = new LumigoStates();
    states.observe('shop', [lumigo, ...others]);
    states.note(lumigo, { listed: [], statusAt: 1 });
    expect(states.observe('shop', others)).toMatchObject(others.map((resource) => ({ resource })));
    expect(states.observe('shop', [lumigo])).toEqual([fresh]);
  });

  it('does not return with the answer to a request that a deletion overtook', () => {
    const states = new LumigoStates();
    states.observe('shop', [lumigo, named('m')]);
    states.observe('shop', [named('m')]);
    states.note(lumigo, { failure: { count: 1, retryAt: 0 } });
    expect(states.find(lumigo)).toBeUndefined();
    expect(states.observe('shop', [lumigo])).toEqual([fresh]);
  });
});
