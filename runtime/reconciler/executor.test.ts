import { describe, expect, it } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import { pino } from 'pino';
import { workloadKinds } from '../contract.ts';
import type { Workload } from '../api/objects.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { Executor } from './executor.ts';
import type { WorkloadChange } from './plan-rollout.ts';
import { observeWorkload } from './workload-store.ts';

const { deployment: kind } = workloadKinds;
const policy: NamespacePolicy = { kind: 'deleting', lumigo: 'lumigo', remove: true };
const toChange = (
  name: string,
  under: NamespacePolicy = policy,
  more: Pick<WorkloadChange, 'task'> = {},
): WorkloadChange => ({
  ...more,
  workload: observeWorkload(kind, { namespace: 'shop', name, uid: name }),
  policy: under,
  reason: 'its Lumigo resource is being deleted',
});
const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `app-${index}`);

function executorOver(
  there: readonly string[],
  { places = 4, inEach = 4, bytes = 1_000, rolloutSettleSeconds = 0 } = {},
) {
  const stop = new AbortController();
  const log = { listed: 0, changed: [] as string[], fresh: 0, under: [] as NamespacePolicy[] };
  const gates: (() => void)[] = [];
  async function* pages() {
    log.listed += 1;
    await turn();
    const { apiVersion, kind: type } = kind;
    const page = there.map((name): Workload => ({ apiVersion, kind: type, metadata: { name, uid: name } }));
    yield { workloads: page, bytes };
  }
  const change = async ({ workload, policy }: WorkloadChange, fresh: Workload | undefined): Promise<boolean> => {
    log.changed.push(workload.name);
    log.under.push(policy);
    if (fresh !== undefined) log.fresh += 1;
    await new Promise<void>((open) => gates.push(open));
    return true;
  };
  const config = { rolloutConcurrent: places, rolloutConcurrentPerNamespace: inEach, rolloutSettleSeconds };
  const term = { config, api: { pages }, logger: pino({ enabled: false }), signal: stop.signal };
  const executor = new Executor(term, { change });
  const settle = async (): Promise<void> => {
    for (let turns = 0; turns < 20; turns += 1) await turn();
  };
  const letGo = async (): Promise<void> => {
    for (const open of gates.splice(0)) open();
    await settle();
  };
  const plan = async (count: number, more: Pick<WorkloadChange, 'task'> = {}, namespace = 'shop'): Promise<void> => {
    const changes = names(count).map((name) => toChange(name, policy, more));
    executor.plan(namespace, changes);
    await settle();
  };
  return { executor, log, stop, plan, letGo };
}

describe('the executor', () => {
  it('reads many workloads from one list and few one by one, each once', async () => {
    const many = executorOver(names(12), { places: 20, inEach: 20 });
    await many.plan(12);
    expect(many.log).toMatchObject({ listed: 1, fresh: 12, changed: names(12) });
    const few = executorOver(names(2));
    await few.plan(2);
    expect(few.log).toMatchObject({ listed: 0, fresh: 0, changed: names(2) });
  });

  it('reads workloads one by one if there is no room for their page [F66]', async () => {
    const { log, plan, letGo } = executorOver(names(9), { bytes: 3_000_000 });
    await Promise.all([plan(9), plan(9, {}, 'bar')]);
    for (let turns = 0; turns < 6; turns += 1) await letGo();
    expect(log).toMatchObject({ listed: 2, fresh: 9 });
    expect(log.changed).toHaveLength(18);
  });

  it('never has more in progress than the limit, and continues as places become free', async () => {
    const { log, plan, letGo } = executorOver(names(6));
    await plan(6);
    expect(log.changed).toHaveLength(4);
    await letGo();
    expect(log.changed).toHaveLength(6);
  });

  it('leaves places to other namespaces', async () => {
    const { log, plan } = executorOver(names(6), { inEach: 2 });
    await plan(6);
    expect(log.changed).toHaveLength(2);
    await plan(1, {}, 'bar');
    expect(log.changed).toHaveLength(3);
  });

  it.each([
    ['paces removals [D28]', {}, 1],
    ['paces no injection, because its pods are judged', { task: 'inject' }, 2],
    ['paces no revert, because its pods are judged', { task: 'revert' }, 2],
  ] as const)('%s', async (_title, more, expected) => {
    const { log, plan, letGo } = executorOver(names(2), { places: 1, rolloutSettleSeconds: 60 });
    await plan(2, more);
    await letGo();
    expect(log.changed).toHaveLength(expected);
  });

  it('applies the latest plan: another policy, and nothing that is no longer planned [F1]', async () => {
    const { executor, log, plan, letGo } = executorOver(names(7));
    await plan(7);
    const other: NamespacePolicy = { ...policy, remove: false };
    executor.plan('shop', [toChange('app-5', other)]);
    await letGo();
    await letGo();
    expect(log.changed).toEqual(['app-0', 'app-1', 'app-2', 'app-3', 'app-5']);
    expect(log.under.at(-1)).toBe(other);
  });

  it('starts nothing after the end of its term [F2]', async () => {
    const { log, stop, plan, letGo } = executorOver(names(7));
    await plan(7);
    stop.abort();
    await letGo();
    expect(log.changed).toHaveLength(4);
  });
});
