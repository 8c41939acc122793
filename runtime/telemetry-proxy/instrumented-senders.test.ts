import { beforeEach, describe, expect, it } from '@jest/globals';
import { labels, workloadKinds, type WorkloadKind } from '../contract.ts';
import { InstrumentedSenders } from './instrumented-senders.ts';
import { parseCounts } from './render-counts.ts';

const { deployment, rollout } = workloadKinds;

let senders: InstrumentedSenders;
let handlers: Map<WorkloadKind, ReturnType<InstrumentedSenders['handler']>>;
let changes: number;
beforeEach(() => {
  changes = 0;
  senders = new InstrumentedSenders(() => (changes += 1));
  handlers = new Map([deployment, rollout].map((kind) => [kind, senders.handler(kind)]));
});

function see(kind: WorkloadKind, namespace: string, name: string, uid: string, label = 'lumigo-operator.v1'): void {
  const metadata = { namespace, name, uid, resourceVersion: '1', labels: { [labels.autoTrace]: label } };
  handlers.get(kind)?.upsert({ ...kind, metadata });
}

describe('InstrumentedSenders', () => {
  it('reports an instrumented workload once, after it sent something', () => {
    see(deployment, 'shop', 'cart', 'a');
    expect([senders.pending(), senders.isAnyAwaited]).toEqual([[], true]);
    senders.hear(['shop/Deployment/cart']);
    senders.hear(['shop/Deployment/cart']);
    expect([senders.pending(), senders.isAnyAwaited]).toEqual([['a'], true]);
    senders.reported(['a']);
    senders.hear(['shop/Deployment/cart']);
    expect([senders.pending(), senders.isAnyAwaited]).toEqual([[], false]);
  });

  it.each([
    ['another namespace', 'bank/Deployment/cart'],
    ['another kind', 'shop/StatefulSet/cart'],
    ['an unknown workload', 'shop/Deployment/other'],
    ['a property of objects', '__proto__'],
  ])('ignores %s', (_case, name) => {
    see(deployment, 'shop', 'cart', 'a');
    senders.hear([name]);
    expect(senders.pending()).toEqual([]);
  });

  it('ignores a workload that opted in, until it is instrumented', () => {
    for (const label of ['true', 'true']) see(deployment, 'shop', 'cart', 'a', label);
    senders.hear(['shop/Deployment/cart']);
    expect([senders.pending(), senders.isAnyAwaited]).toEqual([[], false]);
    see(deployment, 'shop', 'cart', 'a');
    senders.hear(['shop/Deployment/cart']);
    expect(senders.pending()).toEqual(['a']);
  });

  it('reports each change of an opt-in once, and forgets it without the label or the workload', () => {
    const count = () => [changes, senders.sources(() => true).length];
    for (const label of ['true', 'true']) see(deployment, 'shop', 'cart', 'a', label);
    expect(count()).toEqual([1, 1]);
    expect(senders.sources(() => false)).toEqual([]);
    handlers.get(deployment)?.delete({ uid: 'a' });
    expect(count()).toEqual([2, 0]);
    for (const label of ['true', 'false']) see(deployment, 'shop', 'cart', 'a', label);
    expect(count()).toEqual([4, 0]);
    expect([...(handlers.get(deployment)?.known() ?? [])]).toEqual([]);
  });

  it('finds the Rollout of a ReplicaSet', () => {
    see(rollout, 'shop', 'cart-api', 'a');
    senders.hear(['shop/ReplicaSet/cart-api-5b7f9c6d8f']);
    expect(senders.pending()).toEqual(['a']);
  });

  it.each([
    ['was removed', () => see(deployment, 'shop', 'cart', 'a', 'false')],
    ['was deleted with it', () => handlers.get(deployment)?.delete({ uid: 'a' })],
  ])('forgets a workload whose injection %s, and hears no other of its name in time', (_case, end) => {
    const cart = 'shop/Deployment/cart';
    see(deployment, 'shop', 'cart', 'a');
    senders.hear([cart]);
    end();
    expect([senders.pending(), senders.isAnyAwaited]).toEqual([[], false]);
    const endedAt = performance.now();
    see(deployment, 'shop', 'cart', 'b');
    senders.hear([cart], endedAt + 89_000);
    expect([senders.pending(), senders.isAnyAwaited]).toEqual([[], true]);
    senders.hear([cart], endedAt + 90_000);
    expect(senders.pending()).toEqual(['b']);
  });

  it('does not hear what a workload sent before its injection ended', () => {
    const cart = 'shop/Deployment/cart';
    see(deployment, 'shop', 'cart', 'a');
    senders.hear([cart]);
    see(deployment, 'shop', 'cart', 'a', 'false');
    expect(senders.hasJustEnded('a')).toBe(true);
    see(deployment, 'shop', 'cart', 'a');
    const endedAt = performance.now();
    senders.hear([cart], endedAt + 89_000);
    expect([senders.pending(), senders.isAnyAwaited]).toEqual([[], true]);
    senders.hear([cart], endedAt + 90_000);
    expect(senders.pending()).toEqual(['a']);
    expect(senders.hasJustEnded('a')).toBe(false);
  });

  it('reports a bounded number of workloads of a namespace, and those of others', () => {
    const names = Array.from({ length: 2_500 }, (_, index) => `w${index}`);
    for (const name of names) see(deployment, 'large', name, name);
    see(deployment, 'shop', 'cart', 'a');
    senders.hear([...names.map((name) => `large/Deployment/${name}`), 'shop/Deployment/cart']);
    expect(senders.pending()).toHaveLength(2_001);
    expect(senders.pending()).toContain('a');
    senders.reported(senders.pending());
    expect(senders.isAnyAwaited).toBe(false);
  });

  it('awaits nothing while the list is full, and again when it has room', () => {
    for (const name of ['cart', 'pay', 'quiet']) see(deployment, 'shop', name, name);
    senders.hear(['shop/Deployment/cart', 'shop/Deployment/pay']);
    senders.reported(['cart']);
    expect([senders.pending(), senders.isAnyAwaited]).toEqual([['pay'], false]);
    senders.reported(['pay']);
    expect([senders.pending(), senders.isAnyAwaited]).toEqual([[], true]);
  });
});

describe('parseCounts()', () => {
  it('returns each workload once, and no other series', () => {
    const metrics = [
      '# HELP lumigo_received_total Data received from a workload',
      'lumigo_received_total{job="",lumigo_k8s_operator_workload="shop/Deployment/cart",otel_scope_name="x"} 3',
      'lumigo_received_total{lumigo_k8s_operator_workload="shop/Deployment/cart"} 3',
      'lumigo_received_total{lumigo_k8s_operator_workload="shop/CronJob/nightly"} 3',
      'lumigo_received_total{otel_scope_name="x"} 7',
      'target_info{lumigo_k8s_operator_workload="shop/Deployment/other"} 1',
    ];
    expect(parseCounts(metrics.join('\n'))).toEqual(['shop/Deployment/cart', 'shop/CronJob/nightly']);
  });
});
