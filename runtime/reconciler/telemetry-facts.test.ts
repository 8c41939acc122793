import { describe, expect, it } from '@jest/globals';
import { labels, lumigo as contract, workloadKinds } from '../contract.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { LumigoStore } from '../lumigo/lumigo-store.ts';
import type { WorkloadState } from '../rollout/workload-state.ts';
import { TelemetryFacts } from './telemetry-facts.ts';
import { WorkloadStore } from './workload-store.ts';

const { deployment } = workloadKinds;
const now = { ms: 0, iso: '2026-01-01T12:00:00Z' };
const lumigo: LumigoResource = {
  apiVersion: contract.apiVersion,
  kind: contract.kind,
  metadata: { namespace: 'large', name: 'lumigo', uid: 'l', resourceVersion: '1' },
  spec: { lumigoToken: { secretRef: { name: 'lumigo-credentials', key: 'token' } } },
  status: { conditions: [{ type: 'Active', status: 'True', reason: 'Ready', message: '', lastTransitionTime: '' }] },
};

const numbered = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

function seeing(names: readonly string[]) {
  const store = new WorkloadStore();
  const lumigoes = new LumigoStore([]);
  lumigoes.upsert(lumigo);
  for (const name of names) {
    const labelled = { [labels.autoTrace]: 'lumigo-operator.v1' };
    store.upsert(deployment, { namespace: 'large', name, uid: name, resourceVersion: '1', labels: labelled });
  }
  const find = (name: string) => store.get(deployment, 'large', name);
  return { store, find, facts: new TelemetryFacts({ store, lumigoes }) };
}

describe('the fact about a workload without telemetry', () => {
  it.each([
    ['NothingYet while every workload that sends is listed', 1_999, 18_000, 'NothingYet'],
    ['undefined in a namespace at its limit, because the list may lack it', 2_000, 0, undefined],
    ['undefined in every namespace while the list is full', 1, 19_999, undefined],
  ])('is %s', (_title, senders, elsewhere, expected) => {
    const names = numbered('w', senders);
    const { find, facts } = seeing([...names, 'silent']);
    facts.received = new Set([...names, ...numbered('other', elsewhere)]);
    facts.update('large', now);
    expect([find('w0')?.telemetry, find('silent')?.telemetry]).toEqual(['Received', expected]);
  });

  it('has the time when its pods began to run', () => {
    const { store, find, facts } = seeing(['silent']);
    facts.update('large', now);
    const known = find('silent');
    expect(known).toMatchObject({ telemetry: 'NothingYet', telemetrySince: undefined });
    if (known !== undefined) store.update(known, { state: { kind: 'verified' } as WorkloadState });
    facts.update('large', now);
    expect(find('silent')).toMatchObject({ telemetry: 'NothingYet', telemetrySince: now.iso });
  });
});
