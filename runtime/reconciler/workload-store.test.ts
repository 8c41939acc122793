import { describe, expect, it } from '@jest/globals';
import { annotations, labels, workloads, type WorkloadKind } from '../contract.ts';
import { WorkloadStore } from './workload-store.ts';

const getKind = (kind: string): WorkloadKind => {
  const found = workloads.find((each) => each.kind === kind);
  if (found === undefined) throw new Error(`no kind ${kind}`);
  return found;
};
const deployment = getKind('Deployment');
const metadata = (more: object = {}) => ({
  namespace: 'shop',
  name: 'cart',
  uid: 'u1',
  resourceVersion: '10',
  generation: 1,
  creationTimestamp: '2026-01-01T00:00:00Z',
  ...more,
});

const getSize = (store: WorkloadStore): number => store.in('shop').length;

describe('the workload store', () => {
  it('reports a change only if a relevant field changed', () => {
    const store = new WorkloadStore(() => 0);
    expect(store.upsert(deployment, metadata())?.changed).toBe(true);
    expect(store.upsert(deployment, metadata({ resourceVersion: '11' }))?.changed).toBe(false);
    expect(store.upsert(deployment, metadata({ resourceVersion: '12', generation: 2 }))?.changed).toBe(true);
    const label = { labels: { [labels.autoTrace]: 'false' } };
    expect(store.upsert(deployment, metadata({ resourceVersion: '13', generation: 2, ...label }))?.changed).toBe(true);
    const injectionStatus = { ...label, annotations: { [annotations.instrumentation]: 'added' } };
    expect(
      store.upsert(deployment, metadata({ resourceVersion: '14', generation: 2, ...injectionStatus }))?.changed,
    ).toBe(true);
  });

  it("reports a change of the user's labels, which a selector may read, and none of the operator's", () => {
    const store = new WorkloadStore(() => 0);
    const see = (resourceVersion: string, own: object) =>
      store.upsert(deployment, metadata({ resourceVersion, labels: own }))?.changed;
    see('10', {});
    expect(see('11', { tier: 'web' })).toBe(true);
    expect(see('12', { tier: 'web' })).toBe(false);
    expect(see('13', { tier: 'back' })).toBe(true);
    expect(see('14', {})).toBe(true);
  });

  it('ignores older answers', () => {
    const store = new WorkloadStore(() => 0);
    store.upsert(deployment, metadata({ resourceVersion: '20', generation: 5 }));
    expect(store.upsert(deployment, metadata({ resourceVersion: '19', generation: 4 }))?.changed).toBe(false);
    expect(store.get(deployment, 'shop', 'cart')?.generation).toBe(5);
  });

  it('ignores answers about an object that another of the same name has replaced', () => {
    const store = new WorkloadStore(() => 0);
    store.upsert(deployment, metadata({ uid: 'u2', resourceVersion: '20' }));
    expect(store.upsert(deployment, metadata({ resourceVersion: '19' }))?.changed).toBe(false);
    expect(store.get(deployment, 'shop', 'cart')?.uid).toBe('u2');
    expect(store.upsert(deployment, metadata({ resourceVersion: '19' }), true)?.workload.uid).toBe('u1');
  });

  it('accepts an older version from a list, because a restored backup has lower ones [F6]', () => {
    const store = new WorkloadStore(() => 0);
    store.upsert(deployment, metadata({ resourceVersion: '20', generation: 5 }));
    expect(store.upsert(deployment, metadata({ resourceVersion: '7', generation: 2 }), true)?.changed).toBe(true);
    expect(store.get(deployment, 'shop', 'cart')?.generation).toBe(2);
  });

  it('counts instrumented workloads as they change [F8]', () => {
    const store = new WorkloadStore(() => 0);
    const label = { labels: { [labels.autoTrace]: 'lumigo-operator.v1' } };
    store.upsert(deployment, metadata({ ...label }));
    store.upsert(deployment, metadata({ name: 'other', uid: 'u2' }));
    expect([getSize(store), store.instrumented]).toEqual([2, 1]);
    store.upsert(deployment, metadata({ resourceVersion: '11' }));
    expect([getSize(store), store.instrumented]).toEqual([2, 0]);
    store.delete(deployment, 'shop', 'cart', 'u1');
    expect(getSize(store)).toBe(1);
  });

  it('keeps facts until the workload changes [F1]', () => {
    const store = new WorkloadStore(() => 7);
    const policy = { kind: 'none' } as const;
    const seen = store.upsert(deployment, metadata())?.workload;
    if (seen === undefined) throw new Error('not kept');
    const write = { policy, at: 1, touchedAt: undefined, repeats: 0 };
    store.update(seen, { checkedUnder: policy, write });
    store.upsert(deployment, metadata({ resourceVersion: '11' }));
    expect(store.get(deployment, 'shop', 'cart')).toMatchObject({
      checkedUnder: policy,
      write: { touchedAt: undefined },
    });
    store.upsert(deployment, metadata({ resourceVersion: '12', generation: 2 }));
    expect(store.get(deployment, 'shop', 'cart')).toMatchObject({
      ...{ checkedUnder: undefined, checkedBefore: policy },
      write: { touchedAt: 7 },
    });
  });

  it('distinguishes a deleted workload from a new one of the same name', () => {
    const store = new WorkloadStore(() => 0);
    const first = store.upsert(deployment, metadata())?.workload;
    const second = store.upsert(deployment, metadata({ uid: 'u2', resourceVersion: '30' }));
    expect(second?.changed).toBe(true);
    expect(second?.workload).not.toBe(first);
    expect(store.delete(deployment, 'shop', 'cart', 'u1')).toBe(false);
    expect(store.get(deployment, 'shop', 'cart')?.uid).toBe('u2');
    expect(store.delete(deployment, 'shop', 'cart', 'u2')).toBe(true);
    expect(store.namespaces()).toEqual([]);
  });

  it('does not keep objects that a controller owns [D18, D23]', () => {
    const store = new WorkloadStore(() => 0);
    const owned = (apiVersion: string, kind: string) => ({
      ownerReferences: [{ apiVersion, kind, name: 'owner', controller: true }],
    });
    expect(store.upsert(getKind('ReplicaSet'), metadata(owned('apps/v1', 'Deployment')))).toBeUndefined();
    expect(store.upsert(getKind('Job'), metadata(owned('batch/v1', 'CronJob')))).toBeUndefined();
    expect(store.upsert(getKind('Job'), metadata(owned('argoproj.io/v1alpha1', 'Workflow')))).toBeDefined();
    expect(store.upsert(deployment, metadata(owned('argoproj.io/v1alpha1', 'Argo')))).toBeDefined();
  });

  it('forgets a ReplicaSet that is adopted later', () => {
    const store = new WorkloadStore(() => 0);
    const kind = getKind('ReplicaSet');
    store.upsert(kind, metadata());
    store.upsert(
      kind,
      metadata({
        resourceVersion: '11',
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', controller: true }],
      }),
    );
    expect([...store.known(kind)]).toEqual([]);
  });
});
