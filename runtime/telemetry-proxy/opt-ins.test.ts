import { describe, expect, it } from '@jest/globals';
import { annotations, labels, workloads } from '../contract.ts';
import { OptIns } from './opt-ins.ts';

const [deployment, , , replicaSet] = workloads;
const everywhere = () => true;
const shown = <T extends object>(metadata: T) => ({
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { resourceVersion: '1', ...metadata } },
});

function seeing() {
  const changes = { count: 0 };
  const optIns = new OptIns(() => (changes.count += 1));
  const handler = optIns.handler(deployment);
  const show = (own: Record<string, string>, stamps: Record<string, string> = {}) =>
    handler.upsert(shown({ namespace: 'a', name: 'app', uid: 'u', generation: 1, labels: own, annotations: stamps }));
  return { optIns, handler, show, changes };
}

describe('workloads that are traced by their own labels', () => {
  it('name their Secret, or leave it at the default', () => {
    const { optIns, show } = seeing();
    show({ [labels.autoTrace]: 'true' });
    expect([...optIns.sources(everywhere)]).toEqual([
      { namespace: 'a', name: 'lumigo-credentials', key: 'token', revision: 'u/1' },
    ]);
    show({ [labels.autoTrace]: 'True', [labels.tokenSecret]: 'own', [labels.tokenKey]: 'key' });
    expect([...optIns.sources(everywhere)]).toEqual([{ namespace: 'a', name: 'own', key: 'key', revision: 'u/1' }]);
  });

  it('F14: an empty label says nothing', () => {
    const { optIns, show } = seeing();
    show({ [labels.autoTrace]: 'true', [labels.tokenSecret]: '', [labels.tokenKey]: '' });
    expect([...optIns.sources(everywhere)]).toMatchObject([
      { namespace: 'a', name: 'lumigo-credentials', key: 'token' },
    ]);
  });

  it('are known once they are instrumented too, when the label is ours', () => {
    const { optIns, show } = seeing();
    const stamp = 'added 2026-11-20T10:00:00.000Z by webhook; secret=own/token traces=true logs=false label=true';
    show(
      { [labels.autoTrace]: 'lumigo-operator.v1', [labels.tokenSecret]: 'own' },
      { [annotations.instrumentation]: stamp },
    );
    expect([...optIns.sources(everywhere)]).toEqual([{ namespace: 'a', name: 'own', key: 'token', revision: 'u/1' }]);
  });

  it('are not the ReplicaSets of a Deployment, which hands its annotations on to them', () => {
    const optIns = new OptIns(() => undefined);
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'app', uid: 'd', controller: true }];
    const metadata = { namespace: 'a', name: 'app-1', uid: 'u', labels: { [labels.autoTrace]: 'true' } };
    const handler = optIns.handler(replicaSet);
    handler.upsert(shown({ ...metadata, ownerReferences }));
    expect([...optIns.sources(everywhere)]).toEqual([]);
    handler.upsert(shown(metadata));
    expect([...optIns.sources(everywhere)]).toHaveLength(1);
  });

  it('are not those that a Lumigo has instrumented, nor those that opted out', () => {
    const { optIns, show } = seeing();
    show({ [labels.autoTrace]: 'lumigo-operator.v1' });
    show({ [labels.autoTrace]: 'false' });
    expect([...optIns.sources(everywhere)]).toEqual([]);
  });

  it('are forgotten when the label or the workload goes, and where they do not count', () => {
    const { optIns, show, handler, changes } = seeing();
    show({ [labels.autoTrace]: 'true' });
    show({ [labels.autoTrace]: 'true' });
    expect(changes.count).toBe(1);
    expect([...optIns.sources(() => false)]).toEqual([]);
    handler.delete({ uid: 'u' });
    expect([...optIns.sources(everywhere)]).toEqual([]);
    expect(changes.count).toBe(2);
  });
});
