import { describe, expect, it } from '@jest/globals';
import { annotations, labels, workloadKinds } from '../contract.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { getTelemetry, limitOptIns, MAX_OPT_INS, toLabelled } from './senders.ts';

const lumigo = (active: string, more: object = {}, metadata: object = {}): LumigoResource =>
  ({
    apiVersion: 'operator.lumigo.io/v1alpha1',
    kind: 'Lumigo',
    metadata: { name: 'lumigo', namespace: 'shop', uid: 'u', ...metadata },
    spec: { lumigoToken: { secretRef: { name: 's', key: 'k' } }, ...more },
    status: { conditions: [{ type: 'Active', status: active }] },
  }) as unknown as LumigoResource;

describe('the telemetry of a namespace', () => {
  const infrastructure = (given: object) => lumigo('True', { infrastructure: given });
  it.each([
    ['with an active one', lumigo('True'), true, ['events']],
    ['with an inactive one [D39]', lumigo('False'), false, []],
    ['with a new one', { ...lumigo('True'), status: {} }, false, []],
    ['with kubeEvents off', infrastructure({ kubeEvents: { enabled: false } }), true, []],
    ['with infrastructure off', infrastructure({ enabled: false }), true, []],
    ['with an empty infrastructure', infrastructure({}), true, ['events']],
    ['with logging on', lumigo('True', { logging: { enabled: true } }), true, ['events', 'logFiles']],
    ['whose Lumigo is being deleted', lumigo('False', {}, { deletionTimestamp: 'now' }), true, []],
  ] as const)('%s', (_case, effective, acceptsSenders, collect) =>
    expect(getTelemetry(effective)).toEqual({ acceptsSenders, collect }),
  );
});

describe('workloads that are traced by their own labels', () => {
  const { deployment, replicaSet } = workloadKinds;
  const app = { namespace: 'a', name: 'app', uid: 'u', generation: 1, resourceVersion: '1' };
  const byDefault = { namespace: 'a', name: 'lumigo-credentials', key: 'token', revision: 'u/1' };
  const optIn = (tokenSecret: string, tokenKey: string) => ({
    [labels.autoTrace]: 'True',
    [labels.tokenSecret]: tokenSecret,
    [labels.tokenKey]: tokenKey,
  });
  const injected = { [labels.autoTrace]: 'lumigo-operator.v1', [labels.tokenSecret]: 'own' };
  const stamp = 'added 2026-11-20T10:00:00.000Z by webhook; secret=own/token traces=true logs=false label=true';

  it.each<[string, Record<string, string>, Record<string, string>, object | undefined]>([
    ['use the default Secret', { [labels.autoTrace]: 'true' }, {}, byDefault],
    ['name their Secret', optIn('own', 'key'), {}, { ...byDefault, name: 'own', key: 'key' }],
    ['use the default if a label is empty [F14]', optIn('', ''), {}, byDefault],
    [
      'are known also once they are instrumented, when the label is ours',
      injected,
      { [annotations.instrumentation]: stamp },
      { ...byDefault, name: 'own' },
    ],
    ['are not those that a Lumigo has instrumented', { [labels.autoTrace]: 'lumigo-operator.v1' }, {}, undefined],
    ['are not those that opted out', { [labels.autoTrace]: 'false' }, {}, undefined],
  ])('%s', (_case, own, stamps, expected) =>
    expect(toLabelled(deployment, { ...app, labels: own, annotations: stamps })?.optIn).toEqual(expected),
  );

  it.each(['true', 'lumigo-operator.v1'])(
    'are not the ReplicaSets of a Deployment, which inherit its label: %s',
    (label) => {
      const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'app', uid: 'd', controller: true }];
      const metadata = { ...app, labels: { [labels.autoTrace]: label } };
      expect(toLabelled(replicaSet, { ...metadata, ownerReferences })).toBeUndefined();
      expect(toLabelled(replicaSet, metadata)).toBeDefined();
    },
  );
});

describe('the Secrets of opt-ins', () => {
  const named = (namespace: string, name: string, key = 'token') => ({ namespace, name, key });
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const first = letters.slice(0, MAX_OPT_INS);
  const inA = letters.map((name) => named('a', name));

  it.each([
    ['are kept up to the limit', first.map((name) => named('a', name)), first.length, []],
    ['are the first by name, in any order', inA.toReversed(), first.length, ['a']],
    ['count each key', letters.map((key) => named('a', 's', key)), first.length, ['a']],
    ['count once for all workloads that name it', letters.map(() => named('a', 's')), letters.length, []],
    ['have a limit for each namespace', [...inA, named('b', 'z')], first.length + 1, ['a']],
  ])('%s', (_title, sources, count, crowded) => {
    const found = limitOptIns(sources);
    expect(found.crowded).toEqual(crowded);
    expect(found.kept).toHaveLength(count);
    const isKept = ({ namespace, name, key }: (typeof sources)[0]) =>
      namespace === 'b' || first.includes(key === 'token' ? name : key) || sources.length === count;
    expect(found.kept).toEqual(sources.filter(isKept));
  });
});
