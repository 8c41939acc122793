import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { setTimeout as sleep } from 'node:timers/promises';
import { workloads } from '../contract.ts';
import type { Workload } from '../injection/types.ts';
import { Changer } from './changer.ts';
import { Pacing } from './pacing.ts';
import { WorkloadStore, type WorkloadRecord } from './workload-store.ts';

const [kind] = workloads;

/** A changer over workloads in memory; what it reads and changes is written down. */
function changerOver(
  names: readonly string[],
  converge: (record: WorkloadRecord, fresh: Workload | undefined) => Promise<boolean>,
) {
  const store = new WorkloadStore();
  const stop = new AbortController();
  const log = { listed: 0, idle: 0 };
  const records = names.map((name) => {
    const seen = store.upsert(kind, { namespace: 'shop', name, uid: name, resourceVersion: '1', generation: 1 });
    if (seen === undefined) throw new Error('not kept');
    return seen.record;
  });
  const changer = new Changer({
    pacing: new Pacing({ concurrent: 4, concurrentPerNamespace: 4, settleMs: 0 }),
    logger: pino({ level: 'silent' }),
    signal: stop.signal,
    random: () => 0,
    async *pages() {
      log.listed += 1;
      for (const record of records)
        yield await Promise.resolve([{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: record.name } }]);
    },
    converge,
    onProgress: (_namespace, pending) => {
      if (pending === 0) log.idle += 1;
    },
    onUnsettled: () => undefined,
  });
  return { changer, records, stop, log };
}

const until = async (condition: () => boolean): Promise<void> => {
  for (let turn = 0; turn < 300 && !condition(); turn += 1) await sleep(10);
  expect(condition()).toBe(true);
};

describe('the changer', () => {
  it('reads many workloads from one list, and each is changed once', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `w${index}`);
    const seen: (string | undefined)[] = [];
    const { changer, records, log } = changerOver(names, (record, fresh) => {
      seen.push(fresh?.metadata.name);
      record.settled = true;
      return Promise.resolve(true);
    });
    for (const record of records) changer.request(record);
    for (const record of records) changer.request(record);
    expect(changer.pending('shop')).toBe(30);
    await until(() => changer.pending('shop') === 0);
    expect(seen.sort()).toEqual([...names].sort());
    expect(log).toEqual({ listed: 1, idle: 1 });
  });

  it('reads few workloads one by one', async () => {
    const seen: unknown[] = [];
    const { changer, records, log } = changerOver(['a', 'b'], (record, fresh) => {
      seen.push(fresh);
      record.settled = true;
      return Promise.resolve(false);
    });
    for (const record of records) changer.request(record);
    await until(() => changer.pending('shop') === 0);
    expect(seen).toEqual([undefined, undefined]);
    expect(log.listed).toBe(0);
  });

  it('D11, D26: one that fails stops no other, and is tried again after a while', async () => {
    const attempts = new Map<string, number>();
    const { changer, records, stop } = changerOver(['bad', 'good'], (record) => {
      const attempt = (attempts.get(record.name) ?? 0) + 1;
      attempts.set(record.name, attempt);
      if (record.name === 'bad' && attempt === 1) return Promise.reject(new Error('quota'));
      record.settled = true;
      return Promise.resolve(true);
    });
    for (const record of records) changer.request(record);
    await until(() => changer.pending('shop') === 0);
    expect(attempts).toEqual(
      new Map([
        ['bad', 1],
        ['good', 1],
      ]),
    );
    expect(records[0]?.problem).toBe('quota');
    await until(() => attempts.get('bad') === 2);
    await until(() => records[0]?.problem === undefined);
    stop.abort();
  });
});
