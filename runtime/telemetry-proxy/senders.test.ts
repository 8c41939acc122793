import { describe, expect, it } from '@jest/globals';
import { annotations, labels, workloadKinds } from '../contract.ts';
import type { LumigoResource } from '../injection/types.ts';
import { OptIns, telemetryOf, TokenCache } from './senders.ts';

const lumigo = (active: string, more: object = {}, metadata: object = {}): LumigoResource =>
  ({
    apiVersion: 'operator.lumigo.io/v1alpha1',
    kind: 'Lumigo',
    metadata: { name: 'lumigo', namespace: 'shop', uid: 'u', ...metadata },
    spec: { lumigoToken: { secretRef: { name: 's', key: 'k' } }, ...more },
    status: { conditions: [{ type: 'Active', status: active }] },
  }) as unknown as LumigoResource;

const nothing = { letIn: false, collect: false };

describe('the telemetry of a namespace', () => {
  it.each([
    ['without a Lumigo', undefined, nothing],
    ['with an active one', lumigo('True'), { letIn: true, collect: true }],
    ['D39: with an inactive one', lumigo('False'), nothing],
    ['with one that was never looked at', { ...lumigo('True'), status: {} }, nothing],
    [
      'with kubeEvents off',
      lumigo('True', { infrastructure: { kubeEvents: { enabled: false } } }),
      { letIn: true, collect: false },
    ],
    [
      'with infrastructure off',
      lumigo('True', { infrastructure: { enabled: false } }),
      { letIn: true, collect: false },
    ],
    ['with an empty infrastructure', lumigo('True', { infrastructure: {} }), { letIn: true, collect: true }],
    [
      'whose Lumigo is being deleted',
      lumigo('False', {}, { deletionTimestamp: 'now' }),
      { letIn: true, collect: false },
    ],
  ])('%s', (_case, acting, expected) => {
    expect(telemetryOf(acting as LumigoResource | undefined)).toEqual(expected);
  });
});

const { deployment, replicaSet } = workloadKinds;
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

const TRANSITION_MS = 60 * 60_000;

const here = (token: string | undefined) => new Map([['shop/credentials/token', token]]);

describe('the tokens that are let in', () => {
  it.each([
    ['are those that stand in the Secrets', [[here('a'), 0]], ['a']],
    [
      'are each let in once, sorted',
      [
        [
          new Map([
            ['1', 'b'],
            ['2', 'a'],
            ['3', 'b'],
          ]),
          0,
        ],
      ],
      ['a', 'b'],
    ],
    [
      'go on for an hour after they were replaced',
      [
        [here('a'), 0],
        [here('b'), 5],
        [here('b'), TRANSITION_MS + 4],
      ],
      ['a', 'b'],
    ],
    [
      'and no longer',
      [
        [here('a'), 0],
        [here('b'), 5],
        [here('b'), TRANSITION_MS + 5],
      ],
      ['b'],
    ],
    [
      'end where no token stands any more',
      [
        [here('a'), 0],
        [here('b'), 5],
        [here(undefined), 6],
      ],
      [],
    ],
    [
      'do not come back with another token',
      [
        [here('a'), 0],
        [here(undefined), 5],
        [here('b'), 6],
      ],
      ['b'],
    ],
    [
      'end when nobody names their source any more',
      [
        [here('a'), 0],
        [new Map(), 5],
      ],
      [],
    ],
  ] satisfies [string, [Map<string, string | undefined>, number][], string[]][])('%s', (_what, steps, expected) => {
    const book = new TokenCache();
    expect(steps.map(([tokens, now]) => book.letIn(tokens, now)).at(-1)).toEqual(expected);
  });
});
