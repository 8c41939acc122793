import { describe, expect, it } from '@jest/globals';
import {
  active,
  changed,
  decided,
  instrumented,
  made,
  podsPolicy,
  tracing,
  withMetadata,
  withPod,
} from '../../sandbox/testing/injection.ts';
import { everyKind } from '../../sandbox/testing/workloads.ts';
import { labels } from '../contract.ts';
import { isBlocked, type Decision, type DecisionInput } from './decision.ts';
import { withRevert } from './revert.ts';
import type { NamespacePolicy } from './types.ts';
import type { Workload } from '../api/objects.ts';

type Operation = DecisionInput['operation'];

const policies = {
  none: { kind: 'none' },
  excluded: { kind: 'excluded' },
  active,
  'disabled, to be removed': { kind: 'disabled', lumigo: 'lumigo', remove: true },
  'disabled, to be kept': { kind: 'disabled', lumigo: 'lumigo', remove: false },
  inactive: { kind: 'inactive', lumigo: 'lumigo', reason: 'SecretNotFound' },
  'deleting, to be removed': { kind: 'deleting', lumigo: 'lumigo', remove: true },
  'deleting, to be kept': { kind: 'deleting', lumigo: 'lumigo', remove: false },
  'in Pod mode': podsPolicy(tracing),
} as const satisfies Record<string, NamespacePolicy>;
type State = keyof typeof policies;
const states = Object.keys(policies) as State[];

/** A `!` after the code marks a decision that an event reports as impossible. */
const said = (decision: Decision): string => `${decision.kind} ${decision.code}${isBlocked(decision) ? '!' : ''}`;

const judge = (workload: Workload, operation: Operation, policy: NamespacePolicy): Decision =>
  decided(workload, { operation, policy, ...(operation === 'UPDATE' ? { old: workload } : {}) });

const skipped: Readonly<Record<State, string>> = {
  none: 'none no-lumigo',
  excluded: 'none excluded',
  active: 'inject injected',
  'disabled, to be removed': 'none disabled',
  'disabled, to be kept': 'none disabled',
  inactive: 'none inactive',
  'deleting, to be removed': 'none lumigo-deleting',
  'deleting, to be kept': 'none lumigo-deleting',
  'in Pod mode': 'none pod-mode',
};
const all = (outcome: string) => Object.fromEntries(states.map((state) => [state, outcome])) as Record<State, string>;
const inPlace = { ...skipped, active: 'none up-to-date' };
const withdrawn = (outcome: string) => ({
  ...inPlace,
  'disabled, to be removed': outcome,
  'deleting, to be removed': outcome,
  'in Pod mode': outcome,
});
/** The operator may not change Jobs. */
const recorded = { 'disabled, to be kept': 'inject kept', 'deleting, to be kept': 'inject kept' };

const revert = { at: '2026-06-01T00:00:00Z', cause: 'Crash', attempt: 1, key: '0'.repeat(16), evidence: 'it crashed' };

interface Row {
  readonly clean: Readonly<Record<State, string>>;
  readonly instrumented: Readonly<Record<State, string>>;
}

const usual: Readonly<Record<Operation, Row>> = {
  CREATE: { clean: skipped, instrumented: skipped },
  UPDATE: { clean: skipped, instrumented: inPlace },
  RECONCILE: { clean: skipped, instrumented: { ...withdrawn('remove removed'), ...recorded, none: 'remove removed' } },
};
const jobs: Readonly<Record<Operation, Row>> = {
  ...usual,
  UPDATE: { clean: all('none job-update'), instrumented: all('none job-update') },
  RECONCILE: {
    clean: { ...skipped, active: 'none job-immutable!' },
    instrumented: withdrawn('none job-immutable-removal!'),
  },
};

const autoTrace = (value: string) => ({ [labels.autoTrace]: value });
const optedOut = autoTrace('False');
const eligible = states.filter((each) => each !== 'excluded');

const cases = everyKind.flatMap(([name, kind]) =>
  (['CREATE', 'UPDATE', 'RECONCILE'] as const).map((operation) => [name, operation, kind] as const),
);

describe('the decision [D1, D2, D3, D5, D14]', () => {
  it.each(cases)('about a %s on %s follows the table', (name, operation, kind) => {
    const expected = (name === 'Job' ? jobs : usual)[operation];
    const clean = made({}, kind);
    const injected = instrumented(clean);
    const outcomes = (workload: Workload) =>
      Object.fromEntries(states.map((state) => [state, said(judge(workload, operation, policies[state]))]));
    expect(outcomes(clean)).toEqual(expected.clean);
    expect(outcomes(injected)).toEqual(expected.instrumented);
  });

  it.each(everyKind)('about a new %s that is opted out is the same in every state [D19]', (_name, kind) => {
    const windows = { pod: { os: { name: 'windows' } } };
    for (const options of [{ labels: optedOut }, { podLabels: optedOut }, { labels: optedOut, ...windows }])
      for (const state of eligible) {
        const clean = made(options, kind);
        const decision = judge(clean, 'CREATE', policies[state]);
        expect(said(decision)).toBe('none opted-out');
        const reverted = withMetadata(clean, withRevert(clean.metadata, revert));
        const forgotten = judge(reverted, 'RECONCILE', policies[state]);
        expect(forgotten).toMatchObject({ kind: 'inject', code: 'opted-out', message: decision.message });
        expect(changed(forgotten)).toEqual(clean);
      }
  });

  it.each(everyKind)('about a %s that opts out or moves to other nodes is a removal in every state', (name, kind) => {
    const old = instrumented(made({}, kind));
    const removal =
      name === 'Job' ? ['none job-update', 'none job-immutable-removal!'] : Array(2).fill('remove removed');
    const windows = { os: { name: 'windows' } };
    const mainframe = { nodeSelector: { 'kubernetes.io/arch': 's390x' } };
    for (const [workload, clean] of [
      [withMetadata(old, { labels: { app: 'app', ...optedOut } }), made({ labels: optedOut }, kind)],
      [withPod(old, () => windows), made({ pod: windows }, kind)],
      [withPod(old, () => mainframe), made({ pod: mainframe }, kind)],
    ] as const) {
      expect(said(judge(workload, 'RECONCILE', policies.excluded))).toBe('none excluded');
      for (const policy of eligible.map((state) => policies[state])) {
        const update = decided(workload, { operation: 'UPDATE', old, policy });
        const reconcile = decided(workload, { old, policy });
        expect([update, reconcile].map(said)).toEqual(removal);
        expect(reconcile.kind === 'none' ? clean : reconcile.workload).toEqual(clean);
      }
    }
  });

  it.each(everyKind)('about a %s in an excluded namespace is to do nothing, whatever its labels', (_name, kind) => {
    for (const value of ['true', 'false'])
      for (const options of [{ labels: autoTrace(value) }, { podLabels: autoTrace(value) }])
        for (const operation of ['CREATE', 'RECONCILE'] as const)
          expect(said(judge(made(options, kind), operation, policies.excluded))).toBe('none excluded');
  });

  it.each(everyKind)('about a %s that opts in by itself follows the Lumigo resource if there is one', (name, kind) => {
    const workload = made({ labels: autoTrace('true') }, kind);
    const injected = instrumented(workload);
    expect(said(judge(workload, 'CREATE', policies.none))).toBe('inject opted-in');
    for (const state of states)
      if (state !== 'none') expect(said(judge(workload, 'CREATE', policies[state]))).toBe(skipped[state]);
    expect(said(judge(injected, 'RECONCILE', policies['disabled, to be removed']))).toBe(
      name === 'Job' ? 'none job-immutable-removal!' : 'remove removed',
    );
  });
});
