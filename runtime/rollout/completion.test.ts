import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { Workload } from '../api/objects.ts';
import { workloads } from '../contract.ts';
import { getCompletion, type Completion } from './completion.ts';

/** Real controllers wrote these on a real API server (reconciler/running-pods.cluster.test.ts). */
interface Recorded {
  readonly title: string;
  readonly kind: string;
  readonly generation: number;
  readonly spec: object;
  readonly status: object;
  readonly expected: Completion;
}
const recorded = JSON.parse(readFileSync(new URL('recorded-statuses.json', import.meta.url), 'utf8')) as Recorded[];

const workload = (kind: string, spec: object, status: object, generation = 1): Workload => ({
  ...{ apiVersion: workloads.find((row) => row.kind === kind)?.apiVersion ?? '', kind },
  ...{ metadata: { generation }, spec, status },
});

describe('the completion of a recorded status', () => {
  it.each(recorded.map((row) => [`a ${row.kind} that ${row.title}`, row] as const))('is known for %s', (_title, row) =>
    expect(getCompletion(workload(row.kind, row.spec, row.status, row.generation))).toEqual(row.expected),
  );
});

const steady = { observedGeneration: '1', replicas: 2, updatedReplicas: 2, availableReplicas: 2 };

/** Argo Rollouts documents this form. No controller writes some of the statuses. */
const written: readonly [title: string, workload: Workload, expected: Partial<Completion>][] = [
  ['an Argo Rollout that runs', workload('Rollout', { replicas: 2 }, steady), { kind: 'complete' }],
  [
    'an Argo Rollout at a step of its strategy',
    workload('Rollout', { replicas: 2 }, { ...steady, updatedReplicas: 1, phase: 'Paused' }),
    { kind: 'paused' },
  ],
  [
    'a Deployment that runs and is paused',
    workload('Deployment', { replicas: 2, paused: true }, { ...steady, observedGeneration: 1 }),
    { kind: 'complete', isPaused: true },
  ],
  ['no replicas', workload('Deployment', { replicas: 0 }, {}), { kind: 'no-pods', isEmpty: true }],
  ['a DaemonSet that its controller has not seen', workload('DaemonSet', {}, {}), { kind: 'no-pods' }],
  ['a CronJob', workload('CronJob', {}, {}), { kind: 'no-pods' }],
  ['a ReplicaSet', workload('ReplicaSet', { replicas: 2 }, {}), { kind: 'no-pods' }],
  [
    'a full partition',
    workload('StatefulSet', { replicas: 2, updateStrategy: { rollingUpdate: { partition: 2 } } }, {}),
    { kind: 'no-pods' },
  ],
  [
    'a status of other types',
    workload('Deployment', { replicas: 'x' }, { replicas: [], conditions: 1 }),
    { kind: 'progressing', available: 0 },
  ],
  [
    'one pod of two that restarts after the rollout',
    workload('Deployment', { replicas: 2 }, { ...steady, observedGeneration: 1, availableReplicas: 1 }),
    { kind: 'progressing', available: 1, isReplacing: false },
  ],
];

describe('the completion', () => {
  it.each(written)('is known for %s', (_title, seen, expected) => expect(getCompletion(seen)).toMatchObject(expected));

  it('is progressing if the status has not seen the generation yet', () =>
    expect(getCompletion(workload('Deployment', { replicas: 2 }, { ...steady, observedGeneration: 4 }, 5))).toEqual({
      ...{ kind: 'progressing', available: 0, wanted: 2, isReplacing: true },
    }));
});
