import { beforeEach, describe, expect, it } from '@jest/globals';
import { annotations, labels, workloadKinds } from '../contract.ts';
import { WorkloadStore } from './workload-store.ts';

const { deployment, job, replicaSet } = workloadKinds;
const metadata = (more: object = {}) => ({
  namespace: 'shop',
  name: 'cart',
  uid: 'u1',
  resourceVersion: '10',
  generation: 1,
  creationTimestamp: '2026-01-01T00:00:00Z',
  ...more,
});

let store: WorkloadStore;
beforeEach(() => {
  store = new WorkloadStore();
});
const see = (more: object = {}, isListed?: boolean) => store.upsert(deployment, metadata(more), isListed);
const identity = (uid: string) => ({ kind: deployment, namespace: 'shop', name: 'cart', uid });
const seen = () => store.get(deployment, 'shop', 'cart');

describe('the workload store', () => {
  it('reports a change only if a relevant field changed', () => {
    const label = { labels: { [labels.autoTrace]: 'false' } };
    const injectionStatus = { ...label, annotations: { [annotations.instrumentation]: 'added' } };
    const versions = [{}, {}, { generation: 2 }, { generation: 2, ...label }, { generation: 2, ...injectionStatus }];
    const changed = versions.map((each, index) => see({ resourceVersion: `${10 + index}`, ...each })?.changed);
    expect(changed).toEqual([true, false, true, true, true]);
  });

  it("reports a change of the user's labels, which a selector may read, and none of the operator's", () => {
    const versions = [{}, { tier: 'web' }, { tier: 'web' }, { tier: 'back' }, {}];
    const changed = versions.map((own, index) => see({ resourceVersion: `${10 + index}`, labels: own })?.changed);
    expect(changed).toEqual([true, true, false, true, true]);
  });

  it('reports another size of large annotations, which may prevent an injection, and none of small ones', () => {
    const notes = [0, 1_000, 20_000, 20_000, 250_000, 1_000, 0].map((size) => ({ note: 'x'.repeat(size) }));
    const changed = notes.map((each, index) => see({ resourceVersion: `${10 + index}`, annotations: each })?.changed);
    expect(changed).toEqual([true, false, true, false, true, true, false]);
  });

  it('ignores older answers', () => {
    see({ resourceVersion: '20', generation: 5 });
    expect(see({ resourceVersion: '19', generation: 4 })).toMatchObject({ changed: false, isCurrent: false });
    expect(see({ resourceVersion: '19', generation: 5 })).toMatchObject({ changed: false, isCurrent: true });
    expect(seen()?.generation).toBe(5);
  });

  it('ignores answers about an object that another of the same name has replaced', () => {
    see({ uid: 'u2', resourceVersion: '20' });
    expect(see({ resourceVersion: '19' })?.changed).toBe(false);
    expect(seen()?.uid).toBe('u2');
    expect(see({ resourceVersion: '19' }, true)?.workload.uid).toBe('u1');
  });

  it('accepts an older version from a list, because a restored backup has lower ones [F6]', () => {
    see({ resourceVersion: '20', generation: 5 });
    expect(see({ resourceVersion: '7', generation: 2 }, true)?.changed).toBe(true);
    expect(seen()?.generation).toBe(2);
  });

  it('counts the injections that can be removed as they change [F8]', () => {
    const injection = { labels: { [labels.autoTrace]: 'lumigo-operator.v1' } };
    const record = 'added 1 by webhook; secret=a/b traces=true logs=true';
    const recorded = (text: string) => ({ ...injection, annotations: { [annotations.instrumentation]: text } });
    see(injection);
    see({ name: 'other', uid: 'u2' });
    expect([store.in('shop').length, store.removable]).toEqual([2, 1]);
    see({ resourceVersion: '11' });
    expect([store.in('shop').length, store.removable]).toEqual([2, 0]);
    see({ resourceVersion: '12', ...recorded(record) });
    expect(store.removable).toBe(1);
    see({ resourceVersion: '13', ...recorded(`${record} keep`) });
    store.upsert(job, metadata({ name: 'import', uid: 'u3', ...injection }));
    expect([store.in('shop').length, store.removable]).toEqual([3, 0]);
    see({ resourceVersion: '14', ...injection });
    store.delete(identity('u1'));
    expect([store.in('shop').length, store.removable]).toEqual([2, 0]);
  });

  it('keeps the version in which an injection was seen first while its record stays [D23]', () => {
    const injection = { labels: { [labels.autoTrace]: 'lumigo-operator.v1' } };
    const added = 'added 1 by webhook; secret=a/b traces=true logs=true';
    const records = [added, `${added}: skipped`, 'updated'].map((record) => ({
      [annotations.instrumentation]: record,
    }));
    const found = records.map((each, index) =>
      see({ ...injection, resourceVersion: `${10 + index}`, generation: index, annotations: each }),
    );
    expect(found.map((each) => each?.workload.instrumentedVersion)).toEqual(['10', '10', '12']);
  });

  it.each([
    ['pod template', { generation: 2 }],
    ['record alone [F4]', { annotations: { [annotations.instrumentation]: 'another' } }],
  ])('keeps facts until another writer changes the %s [F1]', (_what, change) => {
    const policy = { kind: 'none' } as const;
    const first = see()?.workload;
    if (first === undefined) throw new Error('not kept');
    store.update(first, { checkedUnder: policy, write: { policy, at: 1, touchedAt: undefined, repeats: 0 } });
    see({ resourceVersion: '11' });
    expect(seen()).toMatchObject({ checkedUnder: policy, write: { touchedAt: undefined } });
    see({ resourceVersion: '12', ...change });
    expect(seen()).toMatchObject({ checkedUnder: undefined, checkedBefore: policy });
    expect(seen()?.write?.touchedAt).toBeGreaterThan(1);
  });

  it("takes no edit of its user's annotations for an undone change, although a Deployment counts it [F4]", () => {
    const first = see()?.workload;
    if (first === undefined) throw new Error('not kept');
    store.update(first, { write: { policy: { kind: 'none' }, at: 1, touchedAt: undefined, repeats: 0 } });
    see({ resourceVersion: '11', generation: 2, annotations: { [annotations.excludeContainers]: 'proxy' } });
    expect(seen()).toMatchObject({ generation: 2, write: { touchedAt: undefined } });
    const undone = { [annotations.excludeContainers]: 'all', [annotations.instrumentation]: 'another' };
    see({ resourceVersion: '12', generation: 3, annotations: undone });
    expect(seen()?.write?.touchedAt).toBeGreaterThan(1);
  });

  it('distinguishes a deleted workload from a new one of the same name', () => {
    const first = see()?.workload;
    const second = see({ uid: 'u2', resourceVersion: '30' });
    expect(second?.changed).toBe(true);
    expect(second?.workload).not.toBe(first);
    expect(store.delete(identity('u1'))).toBe(false);
    expect(seen()?.uid).toBe('u2');
    expect(store.delete(identity('u2'))).toBe(true);
    expect(store.namespaces()).toEqual([]);
  });

  const ownedBy = (apiVersion: string, kind: string) =>
    metadata({ resourceVersion: '11', ownerReferences: [{ apiVersion, kind, name: 'owner', controller: true }] });

  it('does not keep objects that a controller owns [D18, D23]', () => {
    expect(store.upsert(replicaSet, ownedBy('apps/v1', 'Deployment'))).toBeUndefined();
    expect(store.upsert(job, ownedBy('batch/v1', 'CronJob'))).toBeUndefined();
    expect(store.upsert(job, ownedBy('argoproj.io/v1alpha1', 'Workflow'))).toBeDefined();
    expect(store.upsert(deployment, ownedBy('argoproj.io/v1alpha1', 'Argo'))).toBeDefined();
  });

  it('forgets a ReplicaSet that is adopted later', () => {
    store.upsert(replicaSet, metadata());
    store.upsert(replicaSet, ownedBy('apps/v1', 'Deployment'));
    expect([...store.known(replicaSet)]).toEqual([]);
  });
});
