import { describe, expect, it } from '@jest/globals';
import pino from 'pino';
import { labels, workloadKinds } from '../contract.ts';
import { InstrumentedSenders } from './instrumented-senders.ts';
import { parseCounts } from './render-counts.ts';
import { reportReceived, selectNew, UnknownUids } from './received.ts';

const numbered = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

describe('the list of received uids', () => {
  it('takes new uids while it is smaller than 1 MiB, and those that it has already', () => {
    const listed = new Set(numbered('old', 19_998));
    expect(selectNew(['old7', 'a', 'b', 'c'], listed)).toEqual(['a', 'b']);
    expect(selectNew(['a'], new Set(numbered('old', 20_000)))).toEqual([]);
    expect(selectNew(['a', 'b'], new Set(['a']))).toEqual(['b']);
  });
});

it('reads from the metrics of the collector which workloads sent something', () => {
  const workload = 'lumigo_k8s_operator_workload="shop/Deployment/cart"';
  const page = [
    '# TYPE lumigo_received counter',
    `lumigo_received{${workload}} 3`,
    `lumigo_received_1_total{job="x",${workload}} 1`,
    'lumigo_received{job="y",lumigo_k8s_operator_workload="bank/CronJob/pay"} 2',
    'other{lumigo_k8s_operator_workload="bank/CronJob/other"} 2',
  ];
  expect(parseCounts(page.join('\n'))).toEqual(['shop/Deployment/cart', 'bank/CronJob/pay']);
});

it('removes a uid that two looks a minute apart do not know, also while the list changes each second', () => {
  const unknown = new UnknownUids();
  const gone: [second: number, uids: readonly string[]][] = [];
  for (let second = 0; second <= 60; second += 1) {
    const found = unknown.look(new Set(['old', 'cart', `new-${second}`]), () => new Set(['cart']), second * 1_000);
    if (found.length > 0) gone.push([second, found]);
  }
  expect(gone).toEqual([[60, ['old']]]);
});

it('keeps a uid that the second look knows', () => {
  const unknown = new UnknownUids();
  const received = new Set(['late']);
  const looks = [new Set<string>(), received, new Set<string>()];
  expect(looks.flatMap((known, minute) => unknown.look(received, () => known, minute * 60_000))).toEqual([]);
});

it('adds no uid whose injection ended while a report of it was retried', async () => {
  const senders = new InstrumentedSenders(() => undefined);
  const kept = senders.handler(workloadKinds.deployment);
  const metadata = { namespace: 'shop', name: 'cart', uid: 'a', resourceVersion: '1' };
  const see = (label: string) => kept.upsert({ metadata: { ...metadata, labels: { [labels.autoTrace]: label } } });
  see('lumigo-operator.v1');
  senders.hear(['shop/Deployment/cart']);
  const stop = new AbortController();
  const requests: string[] = [];
  const request = ({ method }: { readonly method: string }) => {
    requests.push(method);
    for (const label of ['false', 'lumigo-operator.v1']) see(label);
    if (requests.length === 1) return Promise.reject(new Error('no answer'));
    setImmediate(() => stop.abort());
    return Promise.resolve({ body: {} });
  };
  const config = { telemetryCountsPort: 9, operatorNamespace: 'lumigo-system', operatorName: 'lumigo' };
  const options = { config, transport: { request }, senders, logger: pino({ enabled: false }) };
  await reportReceived(options as never, stop.signal);
  expect(requests).toEqual(['GET', 'GET']);
});
