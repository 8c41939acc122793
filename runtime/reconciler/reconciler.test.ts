import { expect, it } from '@jest/globals';
import { lumigo as contract, workloadKinds } from '../contract.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { LumigoStore } from '../lumigo/lumigo-store.ts';
import { Reconciler } from './reconciler.ts';

const active = { type: 'Active', status: 'True', reason: 'Ready', message: '', lastTransitionTime: '' } as const;
const lumigo = (namespace: string, mode: 'Workload' | 'Pod'): LumigoResource => ({
  apiVersion: contract.apiVersion,
  kind: contract.kind,
  metadata: { namespace, name: 'lumigo', uid: namespace, resourceVersion: '1' },
  spec: { lumigoToken: { secretRef: { name: 'lumigo-credentials', key: 'token' } }, tracing: { injection: { mode } } },
  status: { conditions: [active] },
});

it('probes the webhook by workloads that it injects, and not by those in Pod mode', () => {
  const lumigoes = new LumigoStore([]);
  const { signal } = new AbortController();
  const term: unknown = { config: { version: '1.2.3' }, lumigoes, signal };
  const reconciler = new Reconciler(term as ConstructorParameters<typeof Reconciler>[0]);
  const probed = () => reconciler.toProbeWith().map(({ workload }) => workload?.namespace);
  const { upsert } = reconciler.handler(workloadKinds.deployment);
  for (const namespace of ['pods', 'shop'])
    upsert({ metadata: { namespace, name: 'cart', uid: namespace, resourceVersion: '1' } }, true);
  lumigoes.upsert(lumigo('pods', 'Pod'));
  expect(probed()).toEqual([]);
  lumigoes.upsert(lumigo('shop', 'Workload'));
  expect(probed()).toEqual(['shop']);
});
