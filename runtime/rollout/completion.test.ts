import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { Workload } from '../api/objects.ts';
import { workloads } from '../contract.ts';
import { getCompletion, type Completion } from './completion.ts';

/** Real controllers wrote these on a real API server. */
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
  apiVersion: workloads.find((row) => row.kind === kind)?.apiVersion ?? '',
  kind,
  metadata: { generation },
  spec,
  status,
});

describe('the completion of a recorded status', () => {
  it.each(recorded.map((row) => [`a ${row.kind} that ${row.title}`, row] as const))('is known for %s', (_title, row) =>
    expect(getCompletion(workload(row.kind, row.spec, row.status, row.generation))).toEqual(row.expected),
  );
});

const steady = { observedGeneration: '1', replicas: 2, updatedReplicas: 2, availableReplicas: 2 };

const seen = { ...steady, observedGeneration: 1 };
const deployment = (spec: object, status: object): Workload => workload('Deployment', spec, status);

const slow = (minReadySeconds: number, terminationGracePeriodSeconds: number) => ({
  minReadySeconds,
  template: { spec: { terminationGracePeriodSeconds } },
});

const hasSome = { isEmpty: undefined } as const;
const unseen = (updateStrategy: object) => workload('DaemonSet', { updateStrategy }, { observedGeneration: 1 }, 2);

/** Argo Rollouts documents this form. No controller writes some of the statuses. */
const written: readonly [title: string, workload: Workload, expected: object][] = [
  ['an Argo Rollout that runs', workload('Rollout', { replicas: 2 }, steady), { kind: 'complete' }],
  [
    'an Argo Rollout at a step of its strategy',
    workload('Rollout', { replicas: 2 }, { ...steady, updatedReplicas: 1, phase: 'Paused' }),
    { kind: 'paused' },
  ],
  [
    'a Deployment that runs and is paused',
    deployment({ replicas: 2, paused: true }, seen),
    { kind: 'complete', isPaused: true },
  ],
  ['no replicas', deployment({ replicas: 0 }, {}), { kind: 'no-pods', isEmpty: true }],
  ['a DaemonSet that its controller has not seen', workload('DaemonSet', {}, {}), { kind: 'no-pods', ...hasSome }],
  ['one whose change its controller has not seen', unseen({}), { kind: 'progressing', available: 0 }],
  ['one that replaces pods on deletion', unseen({ type: 'OnDelete' }), { kind: 'no-pods', ...hasSome }],
  ['one without nodes', workload('DaemonSet', {}, { observedGeneration: 1 }), { kind: 'no-pods', isEmpty: true }],
  ['a CronJob', workload('CronJob', {}, {}), { kind: 'no-pods', ...hasSome }],
  ['a ReplicaSet', workload('ReplicaSet', { replicas: 2 }, {}), { kind: 'no-pods' }],
  ['one without replicas', workload('ReplicaSet', { replicas: 0 }, {}), { kind: 'no-pods', isEmpty: true }],
  [
    'a full partition',
    workload('StatefulSet', { replicas: 2, updateStrategy: { rollingUpdate: { partition: 2 } } }, {}),
    { kind: 'no-pods' },
  ],
  [
    'a status of other types',
    deployment({ replicas: 'x' }, { replicas: [], conditions: 1 }),
    { kind: 'progressing', available: 0 },
  ],
  ['slow pods', workload('StatefulSet', slow(400, 630), {}), { kind: 'progressing', delayMs: 1_000_000 }],
  ['pods that are slower than an hour', deployment(slow(0, 9_999), {}), { delayMs: 3_600_000 }],
  ['pods that are slow by a second, and end at once', deployment(slow(1, 0), {}), { delayMs: 1_000 }],
  [
    'one pod of two that restarts after the rollout',
    deployment({ replicas: 2 }, { ...seen, availableReplicas: 1 }),
    { kind: 'progressing', available: 1, isReplacing: false },
  ],
];

const progressing = { type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated' };
const available = { type: 'Available', status: 'True', reason: 'AvailableReason' };
const invalid = { type: 'InvalidSpec', status: 'True', reason: 'InvalidSpec' };
const failing = (reason: string) => ({ type: 'Progressing', status: 'False', reason });
const refused = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota' };
const blueGreen = (activeSelector: string, more: object = {}) => ({
  blueGreen: { activeSelector, previewSelector: 'new', ...more },
});

/** The status of an Argo Rollout (1.8) of three pods. `blueGreen` counts available pods of the active ReplicaSet only. */
const argo = (phase: string, [replicas, updatedReplicas, running]: readonly number[], more: object = {}) => ({
  phase,
  replicas,
  updatedReplicas,
  availableReplicas: running,
  readyReplicas: running,
  HPAReplicas: replicas,
  currentPodHash: 'new',
  stableRS: phase === 'Healthy' ? 'new' : 'old',
  observedGeneration: '1',
  blueGreen: {},
  canary: {},
  conditions: [available, progressing],
  ...more,
});

const waiting = { kind: 'paused', isRollingOut: true } as const;
const withoutNew = { kind: 'progressing', available: 0, wanted: 3 } as const;
const analysis = { prePromotionAnalysisRunStatus: { name: 'cart-pre', status: 'Running' } };

const phases: readonly [title: string, status: object, expected: Partial<Completion>][] = [
  ['switched, with its former pods', argo('Healthy', [6, 3, 3], blueGreen('new')), { kind: 'complete', available: 3 }],
  ['routes all traffic to new pods', argo('Healthy', [6, 3, 6]), { kind: 'complete', available: 3 }],
  ['starts new pods before a switch', argo('Progressing', [6, 3, 3], blueGreen('old')), withoutNew],
  ['analyses before the switch', argo('Progressing', [6, 3, 3], blueGreen('old', analysis)), waiting],
  ['analyses after the switch', argo('Progressing', [6, 3, 3], blueGreen('new')), waiting],
  ['has new pods that fail after the switch', argo('Progressing', [6, 3, 0], blueGreen('new')), withoutNew],
  ['is at an analysis step', argo('Progressing', [3, 1, 3]), waiting],
  ['begins with an experiment', argo('Progressing', [3, 0, 3]), waiting],
  ['has a canary pod that fails', argo('Progressing', [3, 1, 2]), withoutNew],
  ['has all pods, but not all steps', argo('Progressing', [3, 3, 3]), waiting],
  ['is at a pause', argo('Paused', [3, 1, 3]), { kind: 'paused' }],
  [
    'was aborted',
    argo('Degraded', [3, 0, 3], { abort: true, conditions: [failing('RolloutAborted')] }),
    { ...withoutNew, isAborted: true },
  ],
  ['is invalid', argo('Degraded', [3, 3, 3], { conditions: [invalid] }), { kind: 'progressing' }],
  [
    'gets no ReplicaSet',
    argo('Healthy', [3, 3, 3], { conditions: [failing('ReplicaSetCreateError')] }),
    { kind: 'progressing' },
  ],
  [
    'gets no further pod because a quota refuses it',
    argo('Progressing', [3, 1, 3], { conditions: [progressing, refused] }),
    { kind: 'progressing', available: 1, refused: 'exceeded quota' },
  ],
];

describe('the completion of an Argo Rollout', () => {
  it.each(phases)('follows its phase if it %s', (_title, status, expected) =>
    expect(getCompletion(workload('Rollout', { replicas: 3 }, status))).toMatchObject(expected),
  );

  it('is progressing if Argo has not seen the generation yet', () =>
    expect(getCompletion(workload('Rollout', { replicas: 3 }, argo('Healthy', [3, 3, 3]), 2))).toMatchObject(
      withoutNew,
    ));
});

describe('the completion', () => {
  it.each(written)('is known for %s', (_title, given, expected) =>
    expect({ ...hasSome, ...getCompletion(given) }).toMatchObject(expected),
  );

  it('is progressing if the status has not seen the generation yet', () =>
    expect(getCompletion(workload('Deployment', { replicas: 2 }, { ...steady, observedGeneration: 4 }, 5))).toEqual({
      kind: 'progressing',
      available: 0,
      wanted: 2,
      isReplacing: true,
    }));
});
