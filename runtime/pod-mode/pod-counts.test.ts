import { afterEach, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { eventually } from '../../sandbox/testing/eventually.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { lumigo as contract } from '../contract.ts';
import type { Transport } from '../kubernetes/http/transport.ts';
import { LumigoStore } from '../lumigo/lumigo-store.ts';
import { PodCounts } from './pod-counts.ts';

const active = { type: 'Active', status: 'True', reason: 'Ready', message: '', lastTransitionTime: '' } as const;
let version = 0;
const lumigo = (namespace: string, mode: 'Pod' | 'Workload', logs = false) => ({
  ...{ apiVersion: contract.apiVersion, kind: contract.kind },
  metadata: { namespace, name: 'lumigo', uid: namespace, resourceVersion: String((version += 1)) },
  spec: {
    ...{ lumigoToken: { secretRef: { name: 'lumigo-credentials', key: 'token' } }, logging: { enabled: logs } },
    tracing: { injection: { mode } },
  },
  status: { conditions: [active] },
});

/** Records the namespaces whose pods are listed. The API server answers nothing. */
function start(lumigoes: LumigoStore, signal: AbortSignal) {
  const counted: string[] = [];
  const request = ({ path }: { path: string }) => {
    counted.push(...(/namespaces\/(\w+)\/pods/.exec(path)?.slice(1) ?? []));
    return Promise.reject(new Error('it does not answer'));
  };
  const counts = new PodCounts({
    transport: { request } as unknown as Transport,
    ...{ lumigoes, synced: Promise.resolve(), onSeen: () => undefined, logger: pino({ enabled: false }) },
    config: { operatorName: 'operator' } as RuntimeConfig,
  });
  void counts.run({ signal, fence: () => undefined, previousRenewTime: undefined });
  return { counted };
}

const end = new AbortController();
afterEach(() => end.abort());

it('counts again only the namespace in Pod mode whose own policy changed', async () => {
  const lumigoes = new LumigoStore([]);
  for (const namespace of ['bank', 'shop']) lumigoes.upsert(lumigo(namespace, 'Pod'));
  const { counted } = start(lumigoes, end.signal);
  await eventually(() => expect(counted).toEqual(['bank', 'shop']));
  for (const logs of [true, false, true]) lumigoes.upsert(lumigo('other', 'Workload', logs));
  await sleep(1_200);
  expect(counted).toEqual(['bank', 'shop']);
  for (const logs of [true, false, true]) lumigoes.upsert(lumigo('shop', 'Pod', logs));
  await eventually(() => expect(counted).toEqual(['bank', 'shop', 'shop']));
});
