import { describe, expect, it } from '@jest/globals';
import { workloads } from '../contract.ts';
import type { Workload } from '../injection/types.ts';
import { restarts, shapeOf } from './shape.ts';

const workload = (kind: string, spec: object, status: object, generation = 1): Workload => ({
  ...{ apiVersion: workloads.find((row) => row.kind === kind)?.apiVersion ?? '', kind },
  ...{ metadata: { generation }, spec, status },
});
const steady = { observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2 };
const daemons = {
  ...{ observedGeneration: 1, desiredNumberScheduled: 3, currentNumberScheduled: 3 },
  ...{ updatedNumberScheduled: 3, numberReady: 3 },
};
const onDelete = { updateStrategy: { type: 'OnDelete' } };

/** What an object shows, whether a change of its template replaces pods that run, and what keeps it from being changed. */
const cases: readonly [title: string, workload: Workload, restarts: boolean, blocked: string | undefined][] = [
  ['runs', workload('Deployment', { replicas: 2 }, steady), true, undefined],
  ['has no replicas', workload('Deployment', { replicas: 0 }, { observedGeneration: 1 }), false, undefined],
  ['has no pods yet', workload('Deployment', { replicas: 2 }, {}), false, 'RollingOut'],
  ['is paused', workload('Deployment', { replicas: 2, paused: true }, steady), true, 'Paused'],
  ['was changed just now', workload('Deployment', { replicas: 2 }, steady, 2), true, 'RollingOut'],
  [
    'is being rolled out',
    workload('Deployment', { replicas: 2 }, { ...steady, updatedReplicas: 1 }),
    true,
    'RollingOut',
  ],
  ['still has old pods', workload('Deployment', { replicas: 2 }, { ...steady, replicas: 3 }), true, 'RollingOut'],
  ['fails', workload('Deployment', { replicas: 2 }, { ...steady, readyReplicas: 1 }), true, 'Unhealthy'],
  ['runs, as a StatefulSet', workload('StatefulSet', { replicas: 2 }, steady), true, undefined],
  [
    'runs in part on another revision, as its partition says',
    workload(
      'StatefulSet',
      { replicas: 2, updateStrategy: { rollingUpdate: { partition: 1 } } },
      { ...steady, updatedReplicas: 1 },
    ),
    true,
    undefined,
  ],
  [
    'has pods that go when somebody deletes them',
    workload('StatefulSet', { replicas: 2, ...onDelete }, steady),
    false,
    undefined,
  ],
  ['runs on each node', workload('DaemonSet', {}, daemons), true, undefined],
  ['fails on one', workload('DaemonSet', {}, { ...daemons, numberReady: 2 }), true, 'Unhealthy'],
  ['is replaced node by node by hand', workload('DaemonSet', onDelete, daemons), false, undefined],
  ['starts its pods later', workload('CronJob', { schedule: '' }, {}), false, undefined],
  ['keeps its pods', workload('ReplicaSet', { replicas: 2 }, steady), false, undefined],
  [
    "runs, as one of Argo's",
    workload('Rollout', { replicas: 2 }, { ...steady, observedGeneration: '1' }),
    true,
    undefined,
  ],
  [
    'is paused at a step of its strategy',
    workload('Rollout', { replicas: 2 }, { ...steady, updatedReplicas: 1, phase: 'Paused' }),
    true,
    'Paused',
  ],
  [
    'has a status that nobody understands',
    workload('Deployment', { replicas: 'x' }, { replicas: [] }),
    false,
    'RollingOut',
  ],
];

describe('a workload that', () => {
  it.each(cases)('%s', (_title, seen, expected, blocked) => {
    const shape = shapeOf(seen);
    expect([restarts(shape), shape.blocked?.reason]).toEqual([expected, blocked]);
  });

  it('has refused pods says since when and why', () => {
    const condition = {
      type: 'ReplicaFailure',
      status: 'True',
      lastTransitionTime: '1970-01-01T00:00:01Z',
      message: 'quota',
    };
    const { refused } = shapeOf(workload('Deployment', {}, { ...steady, conditions: [condition] }));
    expect(refused).toEqual({ since: 1_000, message: 'quota' });
  });
});
