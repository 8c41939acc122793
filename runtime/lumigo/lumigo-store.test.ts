import { describe, expect, it } from '@jest/globals';
import { lumigo as contract } from '../contract.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { LumigoStore } from './lumigo-store.ts';

const active = { type: 'Active', status: 'True', reason: 'Ready', message: '', lastTransitionTime: '' } as const;
const lumigo = (resourceVersion: string, more: object = {}, logs = false): LumigoResource => ({
  apiVersion: contract.apiVersion,
  kind: contract.kind,
  metadata: { namespace: 'shop', name: 'lumigo', uid: 'l', resourceVersion, ...more },
  spec: { lumigoToken: { secretRef: { name: 'lumigo-credentials', key: 'token' } }, logging: { enabled: logs } },
  status: { conditions: [active] },
});
const going = { deletionTimestamp: '2026-01-01T00:00:00Z' };

describe('the store of Lumigo resources', () => {
  it('does not replace a newer Lumigo by an older one, except from a list [F6]', () => {
    const store = new LumigoStore([]);
    expect(store.upsert(lumigo('20', {}, true))).toBe(true);
    expect(store.upsert(lumigo('9'))).toBe(false);
    expect(store.policy('shop')).toMatchObject({ tracing: { logs: true } });
    expect(store.upsert(lumigo('9'), true)).toBe(true);
    expect(store.policy('shop')).toMatchObject({ tracing: { logs: false } });
  });

  it('returns the same policy object until the policy changes [F1]', () => {
    const store = new LumigoStore([]);
    store.upsert(lumigo('1'));
    const before = store.policy('shop');
    store.upsert({ ...lumigo('2'), status: { conditions: [active], injector: { health: 'failing', why: 'crash' } } });
    expect(store.policy('shop')).toBe(before);
    expect(store.effective('shop')?.status?.injector?.health).toBe('failing');
    store.upsert(lumigo('3', {}, true));
    expect(store.policy('shop')).not.toBe(before);
  });

  it('tells by which policy the webhook injects a new workload, if it leaves none', () => {
    const store = new LumigoStore([]);
    const early = '2026-01-01T00:00:00Z';
    const late = '2026-01-03T00:00:00Z';
    const at = (createdAt: string) => store.atCreation({ namespace: 'shop', createdAt });
    expect(at(early)).toBe(store.policy('shop'));
    const conditions = [{ ...active, lastTransitionTime: '2026-01-02T00:00:00Z' }];
    store.upsert({ ...lumigo('1'), status: { conditions } });
    expect([early, late].map(at)).toEqual([undefined, store.policy('shop')]);
    store.upsert({ ...lumigo('2'), status: { conditions, injector: { health: 'unverified', why: 'first' } } });
    expect(at(late)).toBeUndefined();
  });

  it('forgets a Lumigo in deletion once our finalizer is removed, even if others remain [F5]', () => {
    const store = new LumigoStore([]);
    store.upsert(lumigo('1', { ...going, finalizers: [contract.finalizer, 'example.com/other'] }));
    expect(store.policy('shop').kind).toBe('deleting');
    store.upsert(lumigo('2', { ...going, finalizers: ['example.com/other'] }));
    expect(store.policy('shop').kind).toBe('none');
    expect(store.namespaces()).toEqual([]);
    expect([...store.known()]).toHaveLength(1);
    expect(store.count('shop')).toBe(1);
  });

  it('takes the answer to a write, and none about a Lumigo that was deleted meanwhile', () => {
    const store = new LumigoStore([]);
    store.upsert(lumigo('1'));
    store.update(lumigo('2', {}, true));
    expect(store.policy('shop')).toMatchObject({ tracing: { logs: true } });
    store.delete('shop', 'l');
    store.update(lumigo('3'));
    expect(store.in('shop')).toEqual([]);
  });

  it('removes injections of a deleted Lumigo in an excluded namespace, and follows it in nothing else', () => {
    const store = new LumigoStore(['shop']);
    const held = { finalizers: [contract.finalizer] };
    store.upsert(lumigo('1', held));
    expect(store.policy('shop')).toEqual({ kind: 'excluded' });
    store.upsert(lumigo('2', { ...held, ...going }));
    const deleting = store.policy('shop');
    expect(deleting).toEqual({ kind: 'deleting', lumigo: 'lumigo', remove: true, isExcluded: true });
    expect(store.policy('shop')).toBe(deleting);
    store.upsert(lumigo('3', going));
    expect(store.policy('shop')).toEqual({ kind: 'excluded' });
  });
});
