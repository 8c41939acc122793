import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { workloadKinds, type WorkloadKind } from '../contract.ts';
import type { Workload } from '../api/objects.ts';
import { inOrder, nextBatch, getRisk, getBatches, type Risk, type Waiting } from './batches.ts';
import { noTally, type NamespaceTally } from './injector-health.ts';

const { deployment, daemonSet, statefulSet, replicaSet, cronJob, rollout } = workloadKinds;
const of = (kind: WorkloadKind, spec: object, status: object = {}): Workload => ({
  apiVersion: kind.apiVersion,
  kind: kind.kind,
  metadata: {},
  spec,
  status,
});
const agent = (nodes: number, maxUnavailable: string): Workload =>
  of(daemonSet, { updateStrategy: rolling(maxUnavailable) }, { desiredNumberScheduled: nodes });
const rolling = (maxUnavailable: unknown) => ({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable } });

describe('the risk of a workload', () => {
  it.each<[string, Workload, Risk['rank']]>([
    ['a Deployment whose old pods serve', of(deployment, { replicas: 3, strategy: rolling('25%') }), 0],
    ['a DaemonSet', of(daemonSet, {}, { desiredNumberScheduled: 3 }), 1],
    ['a DaemonSet that ends all, as its percentage is rounded up', agent(3, '67%'), 3],
    ['a DaemonSet whose percentage leaves one', agent(3, '66%'), 1],
    ['a Deployment whose percentage is rounded down', of(deployment, { replicas: 3, strategy: rolling('67%') }), 0],
    ['a StatefulSet', of(statefulSet, { replicas: 2 }), 2],
    ['a Deployment of one pod', of(deployment, { replicas: 1 }), 3],
    ['Recreate [F73]', of(deployment, { replicas: 2, strategy: { type: 'Recreate' } }), 3],
    ['maxUnavailable of all, as a number [F73]', of(deployment, { replicas: 2, strategy: rolling(2) }), 3],
    ['maxUnavailable of all, in percent [F73]', of(deployment, { replicas: 2, strategy: rolling('100%') }), 3],
    ['a canary Rollout', of(rollout, { replicas: 2, strategy: { canary: { maxUnavailable: 1 } } }), 0],
    [
      'a canary with a value of another form',
      of(rollout, { replicas: 2, strategy: { canary: { maxUnavailable: { toString: null } } } }),
      0,
    ],
    ['a canary that ends all', of(rollout, { replicas: 2, strategy: { canary: { maxUnavailable: '100%' } } }), 3],
    ['no replicas', of(deployment, { replicas: 0 }), 4],
    ['OnDelete', of(statefulSet, { replicas: 3, updateStrategy: { type: 'OnDelete' } }), 4],
    ['a bare ReplicaSet', of(replicaSet, { replicas: 3 }), 4],
    ['a CronJob', of(cronJob, {}), 4],
  ])('%s', (_title, workload, rank) => expect(getRisk(workload).rank).toBe(rank));

  it('counts the pods that a workload has or gets, which is one by default', () => {
    const seen = [agent(3, '25%'), of(replicaSet, { replicas: 3 }), of(replicaSet, {}), of(deployment, {})];
    expect(seen.map((each) => getRisk(each).pods)).toEqual([3, 3, 1, 1]);
  });
});

const waiting = (name: string, rank: Risk['rank'], pods = 2): Waiting => ({
  name,
  kind: deployment,
  risk: { rank, pods },
});
const many = (count: number, rank: Risk['rank'] = 0): Waiting[] =>
  Array.from({ length: count }, (_, index) => waiting(`app-${String(index).padStart(4, '0')}`, rank));
const turns = (tally: Partial<NamespaceTally>, all = many(100)) => nextBatch(all, { ...noTally, ...tally }, 50).length;

describe('the next turns', () => {
  it.each([
    ['one is the first', {}, 1],
    ['twice as many as are verified follow', { verified: 3 }, 6],
    ['at most the largest batch follows', { verified: 99 }, 50],
  ] as const)('%s', (_title, standing, expected) => expect(turns(standing)).toBe(expected));

  it.each([
    ['one goes first where no pod shows how it fares [F67]', {}, 1],
    ['all follow once one has it', { untested: 1 }, 100],
    ['all go where the injector runs', { verified: 1 }, 100],
  ] as const)('%s', (_title, standing, expected) => expect(turns(standing, many(100, 4))).toBe(expected));

  it('skip those without pods until the others had theirs [F67]', () =>
    expect(nextBatch([waiting('cron', 4), waiting('shop', 0)], { ...noTally, verified: 1 }, 50)).toMatchObject([
      { name: 'shop' },
    ]));

  it('are those with the least risk: by rank, then by pods, then by name', () => {
    const seen = [waiting('d', 3), waiting('big', 0, 9), waiting('b', 0), waiting('a', 0), waiting('c', 1)];
    const order = ['a', 'b', 'big', 'c', 'd'];
    expect(inOrder(seen).map(({ name }) => name)).toEqual(order);
    expect(nextBatch(seen, { ...noTally, verified: 9 }, 50).map(({ name }) => name)).toEqual(order);
  });

  it('reach each workload in few batches', () => {
    expect(getBatches(10, 50)).toEqual([1, 2, 6, 1]);
    expect(getBatches(100, 50)).toEqual([1, 2, 6, 18, 50, 23]);
    expect(getBatches(1_000, 50)).toHaveLength(24);
    fc.assert(
      fc.property(fc.nat(2_000), fc.integer({ min: 1, max: 100 }), (count, largest) => {
        const batches = getBatches(count, largest);
        expect(batches.reduce((sum, each) => sum + each, 0)).toBe(count);
        expect(Math.max(0, ...batches)).toBeLessThanOrEqual(largest);
      }),
    );
  });
});
