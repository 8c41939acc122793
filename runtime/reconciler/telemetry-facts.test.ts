import { describe, expect, it } from '@jest/globals';
import { labels, lumigo as contract, workloadKinds } from '../contract.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { LumigoStore } from '../lumigo/lumigo-store.ts';
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

/** Returns the fact about a workload that did not send, beside `senders` in its namespace and `others` elsewhere. */
function tellSilence({ senders, others = 0 }: { senders: number; others?: number }): string | undefined {
  const store = new WorkloadStore();
  const lumigoes = new LumigoStore([]);
  lumigoes.upsert(lumigo);
  const names = numbered('w', senders);
  for (const name of [...names, 'silent']) {
    const labelled = { [labels.autoTrace]: 'lumigo-operator.v1' };
    store.upsert(deployment, { namespace: 'large', name, uid: name, resourceVersion: '1', labels: labelled });
  }
  const facts = new TelemetryFacts({ store, lumigoes });
  facts.received = new Set([...names, ...numbered('other', others)]);
  facts.update('large', now);
  expect(store.get(deployment, 'large', 'w0')?.telemetry).toBe('Received');
  return store.get(deployment, 'large', 'silent')?.telemetry;
}

describe('the fact about a workload without telemetry', () => {
  it('is NothingYet while every workload that sends is listed', () => {
    expect(tellSilence({ senders: 1_999, others: 18_000 })).toBe('NothingYet');
  });

  it('is undefined in a namespace at its limit, because the list may lack it', () => {
    expect(tellSilence({ senders: 2_000 })).toBeUndefined();
  });

  it('is undefined in every namespace while the list is full', () => {
    expect(tellSilence({ senders: 1, others: 19_999 })).toBeUndefined();
  });
});
