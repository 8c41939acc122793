import { describe, expect, it } from '@jest/globals';
import { activePolicy, tracing } from '../../sandbox/testing/injection.ts';
import { annotations, workloadKinds } from '../contract.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import type { ObservedWorkload } from './observed.ts';
import { contestDelayMs, planWorkload, whyWaits } from './plan-workload.ts';
import { observeWorkload } from './workload-store.ts';

const { deployment, job } = workloadKinds;
const injectionStatus =
  'added 2026-11-20T10:00:00.000Z by controller; secret=lumigo-credentials/token traces=true logs=false';

const active: NamespacePolicy = { ...activePolicy(tracing), createdAt: '2026-01-02T00:00:00Z' };
const changed: NamespacePolicy = activePolicy({ ...tracing, logs: true });
const newOnly: NamespacePolicy = { ...active, injectExisting: false };
const disabled: NamespacePolicy = { kind: 'disabled', lumigo: 'lumigo', remove: true };
const inactive: NamespacePolicy = { kind: 'inactive', lumigo: 'lumigo', reason: 'SecretNotFound' };
const deleting: NamespacePolicy = { kind: 'deleting', lumigo: 'lumigo', remove: true };
const none: NamespacePolicy = { kind: 'none' };
const excluded: NamespacePolicy = { kind: 'excluded' };

const plain = observeWorkload(deployment, { name: 'cart', creationTimestamp: '2026-01-01T00:00:00Z' });
const ours = { label: 'lumigo-operator.v1.0.0', injectionStatus };
const injectedJob = { ...ours, kind: job };
const failure = { policy: active, count: 3, refusedSince: 0, retryAt: 5_000, problem: 'quota' };
const touched = { policy: active, at: 1_000, touchedAt: 2_000, repeats: 0 };
const undone = { ...touched, undoneAt: 2_500 };
const undoneAgain = (repeats: number) => ({ write: { ...undone, repeats } });
const MINUTE = 60_000;
const LONG = 10 * MINUTE + 1_000;

/** The facts that differ from a workload without an injection and without labels, which is older than the `Lumigo`. */
type Facts = Partial<ObservedWorkload>;
type Step = ReturnType<typeof planWorkload>['kind'];

const cases: readonly [string, Facts, NamespacePolicy, Step, times?: { now?: number; until?: number }][] = [
  ['is injected where a Lumigo covers it', {}, active, 'change'],
  ['is left where it is older than a Lumigo that leaves such alone', {}, newOnly, 'nothing'],
  ['is injected where it is younger than that Lumigo', { createdAt: '2026-02-01' }, newOnly, 'change'],
  ['is left where both came in the same second', { createdAt: '2026-01-02T00:00:00Z' }, newOnly, 'nothing'],
  ['is left while it is being deleted', { deleting: true }, active, 'nothing'],
  ['is left where injection is switched off', {}, disabled, 'nothing'],
  ['is left while the Lumigo is not active', {}, inactive, 'nothing'],
  ['is left where no Lumigo is', {}, none, 'nothing'],
  ['is left in a namespace that is never instrumented', { label: 'false' }, excluded, 'nothing'],
  ['is looked at where it is instrumented: the injection may be broken', ours, active, 'change'],
  ['keeps its injection while the Lumigo is not active', { ...ours, judged: injectionStatus }, inactive, 'nothing'],
  ['is read by a new leader also then, because its pods may fail', ours, inactive, 'change'],
  ['is not read again by a leader that has read it', { ...ours, checkedUnder: active }, inactive, 'nothing'],
  ['loses its injection where it is switched off', ours, disabled, 'change'],
  ["loses the original operator's injection where it is switched off", { label: ours.label }, disabled, 'change'],
  ['loses what is left of an injection where it is switched off', { injectionStatus }, disabled, 'change'],
  ['loses its injection when the Lumigo goes', ours, deleting, 'change'],
  ['keeps its injection in a namespace that is excluded by now', ours, excluded, 'nothing'],
  ['opts out by its label', { label: 'False' }, disabled, 'change'],
  ['opts out by its label where there is no Lumigo either', { ...ours, label: 'false' }, none, 'change'],
  ['opts in by its label where there is no Lumigo', { label: 'true' }, none, 'change'],
  [
    'is looked at again where it opted in',
    { ...ours, injectionStatus: `${injectionStatus} label=true` },
    none,
    'change',
  ],
  ['loses its injection that a Lumigo has left behind [F3]', ours, none, 'change'],
  ['keeps an injection that is to stay', { ...ours, injectionStatus: `${injectionStatus} keep` }, none, 'nothing'],
  ["is looked at with the original operator's injection [F50]", { label: ours.label }, none, 'change'],
  ['that is a Job keeps an injection that a Lumigo has left behind', injectedJob, none, 'nothing'],
  [
    'that is a Job keeps the injection for which it opted in',
    { ...injectedJob, injectionStatus: `${injectionStatus} label=true` },
    none,
    'nothing',
  ],
  ['that is a Job opts in by its label', { kind: job, label: 'true' }, none, 'change'],
  ['that is a Job gets an event if it cannot be injected any more', { kind: job }, active, 'change'],
  [
    'that is an instrumented Job is read once, because its pods show if the injector runs',
    injectedJob,
    active,
    'change',
  ],
  ['that is an instrumented Job is not read again', { ...injectedJob, checkedUnder: active }, active, 'nothing'],
  [
    'nor under another policy, because it cannot change',
    { ...injectedJob, judged: injectionStatus, checkedUnder: deleting },
    active,
    'nothing',
  ],
  [
    'that is a Job is read once when its Lumigo goes, to report that its injection stays [F78]',
    { ...injectedJob, judged: injectionStatus, checkedUnder: active },
    deleting,
    'change',
  ],
  ['is done with once a check has found nothing to do', { ...ours, checkedUnder: active }, active, 'nothing'],
  ['is not done with under another policy [F1]', { ...ours, checkedUnder: active }, changed, 'change'],
  ['is not planned twice', { inFlight: { injectionStatus: undefined } }, active, 'wait'],
  [
    'is planned after its change under another policy has ended [F1]',
    { ...ours, inFlight: { injectionStatus } },
    changed,
    'wait',
  ],
  ['that failed is given time', { failure }, active, 'wait', { now: 4_999, until: 5_000 }],
  ['that failed is tried again', { failure }, active, 'change', { now: 5_000 }],
  ['that failed is tried at once under another policy', { failure }, changed, 'change', { now: 0 }],
  ['is read at once after the first change by another writer', { write: undone }, active, 'change'],
  ['and after any further one', { write: { ...touched, repeats: 2 } }, active, 'change'],
  ['loses an injection whose removal another webhook undid', { write: undone }, deleting, 'change'],
  ['waits a minute after two of them [F4]', undoneAgain(1), active, 'wait', { now: 3_000, until: 2_000 + MINUTE }],
  ['waits an hour after three [F4]', undoneAgain(2), active, 'wait', { now: 3_000, until: 2_000 + 60 * MINUTE }],
  [
    'that lived for ten minutes is changed at once',
    { write: { ...undone, touchedAt: LONG, undoneAt: LONG, repeats: 1 } },
    active,
    'change',
    { now: LONG },
  ],
  [
    'is changed at once for another policy, even if another writer undid two changes',
    undoneAgain(1),
    changed,
    'change',
    { now: 3_000 },
  ],
];

describe('a workload', () => {
  it.each(cases)('%s', (_title, facts, policy, kind, { now = 0, until } = {}) => {
    const step = planWorkload({ ...plain, ...facts }, policy, now);
    expect(step).toMatchObject(until === undefined ? { kind } : { kind, until });
    expect(step).not.toHaveProperty('reason', '');
  });

  it('is written three times in ten minutes and five times a day at most [F4]', () => {
    const times: number[] = [];
    for (let at = 0, repeats = 0; at < 24 * 60 * MINUTE; repeats += 1) {
      times.push(at);
      at += 1_000 + contestDelayMs(repeats);
    }
    expect(times.filter((at) => at < 10 * MINUTE)).toHaveLength(3);
    expect(times).toHaveLength(5);
    expect([0, 3, 4, 99].map(contestDelayMs)).toEqual([0, 360 * MINUTE, 1_440 * MINUTE, 1_440 * MINUTE]);
  });
});

it.each([
  ['progressive', {}, undefined],
  ['on-next-change', {}, 'WaitsForChange'],
  ['on-next-change', { [annotations.retry]: '1' }, 'WaitsForChange'],
  ['manual', {}, 'WaitsForApproval'],
  ['manual', { [annotations.retry]: '1' }, undefined],
] as const)('with the strategy %s and the annotations %j it waits: %s', (strategy, notes, expected) => {
  expect(whyWaits(strategy, { apiVersion: '', kind: '', metadata: { annotations: notes } })).toBe(expected);
});
