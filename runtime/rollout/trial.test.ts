import { describe, expect, it } from '@jest/globals';
import { judge, type ObservedPod, type Trial } from './trial.ts';

const shape = { desired: 2, running: 2, blocked: undefined, refused: undefined };
const trial: Trial = { shape, record: 'ours', changedAt: 1_000, wasHealthy: true };
const settings = { soakMs: 10_000, deadlineMs: 60_000 };
const pod = (readySince: number | undefined, more: Partial<ObservedPod> = {}): ObservedPod => ({
  ...{ name: 'p', uid: 'p', record: 'ours', readySince, evidence: undefined, ...more },
});
const paused = { ...trial, shape: { ...shape, blocked: { reason: 'Paused', message: 'is paused' } as const } };
const crash = { cause: 'Crash', message: 'it crashed' } as const;
const fresh = { ...trial, wasHealthy: false };
const refused = { ...trial, shape: { ...shape, refused: { message: 'quota', since: 2_000 } } };

/** What is seen of an injection at what time, and what it is taken for. */
const cases: readonly [string, Trial, readonly ObservedPod[], now: number, expected: object][] = [
  ['without pods is under way', trial, [], 2_000, { is: 'progressing', until: 61_000 }],
  ['without pods for long is broken', trial, [], 99_000, { is: 'broken', evidence: { cause: 'NotReady' } }],
  ['with one pod of two is under way', trial, [pod(2_000)], 3_000, { is: 'progressing', until: 62_000 }],
  [
    'whose pods are another injection’s is under way',
    trial,
    [pod(1, { record: 'old' }), pod(1, { record: 'old' })],
    3_000,
    { is: 'progressing' },
  ],
  ['with all pods ready soaks', trial, [pod(2_000), pod(4_000)], 5_000, { is: 'soaking', until: 14_000 }],
  ['whose pods were ready for long enough is proven', trial, [pod(2_000), pod(4_000)], 14_000, { is: 'proven' }],
  ['soaks from its own time on', trial, [pod(0), pod(0)], 10_999, { is: 'soaking', until: 11_000 }],
  ['soaks anew after a restart', trial, [pod(2_000), pod(20_000)], 21_000, { is: 'soaking', until: 30_000 }],
  [
    'with a pod that speaks against it is broken',
    trial,
    [pod(2_000), pod(undefined, { evidence: crash })],
    3_000,
    { is: 'broken', evidence: crash },
  ],
  [
    'is not broken by pods of another injection',
    trial,
    [pod(2_000), pod(2_000), pod(1, { record: 'old', evidence: crash })],
    99_000,
    { is: 'proven' },
  ],
  [
    'that gets no pod ready in time is broken',
    trial,
    [pod(undefined)],
    61_001,
    { is: 'broken', evidence: { cause: 'NotReady' } },
  ],
  [
    'that gets one ready is given the same time again',
    trial,
    [pod(50_000), pod(undefined)],
    61_001,
    { is: 'progressing', until: 110_000 },
  ],
  [
    'that is paused before it has a pod is not broken by that',
    paused,
    [],
    999_000,
    { is: 'progressing', until: Infinity },
  ],
  ['that is paused is proven by the pods that it has', paused, [pod(2_000)], 14_000, { is: 'proven' }],
  [
    'of which nobody knows whether it ever was ready may take its time',
    fresh,
    [pod(undefined)],
    999_000,
    { is: 'progressing', until: Infinity },
  ],
  [
    'that crashes is broken, whether or not it ever was ready',
    fresh,
    [pod(undefined, { evidence: crash })],
    2_000,
    { is: 'broken' },
  ],
  ['whose pods are refused is given a moment', refused, [], 6_999, { is: 'progressing' }],
  ['whose pods are refused is broken', refused, [], 7_000, { is: 'broken', evidence: { cause: 'PodsRefused' } }],
];

describe('an injection', () => {
  it.each(cases)('%s', (_title, seen, pods, now, expected) =>
    expect(judge(seen, pods, settings, now)).toMatchObject(expected),
  );
});
