import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { injector } from '../../sandbox/testing/injection.ts';
import { everyKind, workloadOf, type WorkloadOptions } from '../../sandbox/testing/workloads.ts';
import { labels, workloadKinds, workloads, type WorkloadKind } from '../contract.ts';
import { decide, type Decision, type DecisionInput } from './decide.ts';
import { isBlocked } from './decision.ts';
import { onWindows, podTemplate } from '../../sandbox/testing/arbitrary/pod-template.ts';
import type { Workload } from '../api/objects.ts';
import type { NamespacePolicy } from './types.ts';
import { templateOf, withTemplate } from './workload.ts';

type Operation = DecisionInput['operation'];

/** Every kind, under every operation, in every state of its namespace: what is decided, as docs and events tell it. */

const policies = {
  none: { state: 'none' },
  excluded: { state: 'excluded' },
  active: {
    state: 'active',
    lumigo: 'lumigo',
    tracing: { secretName: 's', secretKey: 'k', traces: true, logs: false },
    createdAt: '2026-01-01T00:00:00Z',
    injectExisting: true,
    remove: true,
  },
  'disabled, to be removed': { state: 'disabled', lumigo: 'lumigo', remove: true },
  'disabled, to be kept': { state: 'disabled', lumigo: 'lumigo', remove: false },
  inactive: { state: 'inactive', lumigo: 'lumigo', reason: 'SecretNotFound' },
  'deleting, to be removed': { state: 'deleting', lumigo: 'lumigo', remove: true },
  'deleting, to be kept': { state: 'deleting', lumigo: 'lumigo', remove: false },
} as const satisfies Record<string, NamespacePolicy>;
type State = keyof typeof policies;
const states = Object.keys(policies) as State[];

/** Action and code; a `!` behind it: somebody is told that it cannot be done. */
const said = (decision: Decision): string => {
  return `${decision.action} ${decision.code}${isBlocked(decision) ? '!' : ''}`;
};

const judge = (workload: Workload, operation: Operation, policy: NamespacePolicy, old?: Workload): Decision =>
  decide({
    workload,
    ...(old === undefined ? {} : { old }),
    operation,
    policy,
    injector,
    now: '2026-06-01T00:00:00.000Z',
    by: operation === 'RECONCILE' ? 'controller' : 'webhook',
  });

const make = (kind: WorkloadKind, options: WorkloadOptions = {}): Workload =>
  workloadOf(kind, 'shop', 'app', options) as unknown as Workload;

function instrumented(workload: Workload): Workload {
  const decision = judge(workload, 'CREATE', policies.active);
  if (decision.action !== 'inject') throw new Error(decision.message);
  return decision.workload;
}

const leftAlone: Readonly<Record<State, string>> = {
  none: 'none no-lumigo',
  excluded: 'none excluded',
  active: 'inject injected',
  'disabled, to be removed': 'none disabled',
  'disabled, to be kept': 'none disabled',
  inactive: 'none inactive',
  'deleting, to be removed': 'none lumigo-deleting',
  'deleting, to be kept': 'none lumigo-deleting',
};
const all = (outcome: string) => Object.fromEntries(states.map((state) => [state, outcome])) as Record<State, string>;
const inPlace = { ...leftAlone, active: 'none up-to-date' };
const withdrawn = (outcome: string) => ({
  ...inPlace,
  'disabled, to be kept': 'inject kept',
  'deleting, to be kept': 'inject kept',
  'disabled, to be removed': outcome,
  'deleting, to be removed': outcome,
});

interface Row {
  readonly clean: Readonly<Record<State, string>>;
  readonly instrumented: Readonly<Record<State, string>>;
}

const usual: Readonly<Record<Operation, Row>> = {
  CREATE: { clean: leftAlone, instrumented: leftAlone },
  UPDATE: { clean: leftAlone, instrumented: inPlace },
  DELETE: { clean: all('none deleted'), instrumented: all('none deleted') },
  RECONCILE: { clean: leftAlone, instrumented: { ...withdrawn('remove removed'), none: 'remove removed' } },
};
/** A Job's template cannot change once it exists. */
const jobs: Readonly<Record<Operation, Row>> = {
  ...usual,
  UPDATE: { clean: all('none job-update'), instrumented: all('none job-update') },
  RECONCILE: {
    clean: { ...leftAlone, active: 'none job-immutable!' },
    instrumented: withdrawn('none job-immutable-removal!'),
  },
};

const cases = everyKind.flatMap(([name, kind]) =>
  (['CREATE', 'UPDATE', 'DELETE', 'RECONCILE'] as const).map((operation) => [name, operation, kind] as const),
);

describe('D1 D2 D3 D14: what is decided', () => {
  it.each(cases)('about a %s on %s', (name, operation, kind) => {
    const expected = (name === 'Job' ? jobs : usual)[operation];
    const clean = make(kind);
    const injected = instrumented(clean);
    const outcomes = (workload: Workload) =>
      Object.fromEntries(
        states.map((state) => [
          state,
          said(judge(workload, operation, policies[state], operation === 'UPDATE' ? workload : undefined)),
        ]),
      );
    expect(outcomes(clean)).toEqual(expected.clean);
    expect(outcomes(injected)).toEqual(expected.instrumented);
  });

  it.each(everyKind)('D19: about an opted-out %s is the same in every state', (name, kind) => {
    const optedOut = { [labels.autoTrace]: 'False' };
    for (const state of states.filter((each) => each !== 'excluded'))
      for (const options of [{ labels: optedOut }, { podLabels: optedOut }]) {
        expect(said(judge(make(kind, options), 'CREATE', policies[state]))).toBe('none opted-out');
        const injected = instrumented(make(kind));
        const workload = { ...injected, metadata: { ...injected.metadata, labels: optedOut } };
        const removal = name === 'Job' ? 'none job-immutable-removal!' : 'remove removed';
        expect(said(judge(workload, 'RECONCILE', policies[state]))).toBe(removal);
      }
  });

  it.each(everyKind)('about a %s in an excluded namespace is nothing, whatever its labels say', (_name, kind) => {
    for (const value of ['true', 'false']) {
      const labelled = { [labels.autoTrace]: value };
      for (const workload of [make(kind, { labels: labelled }), make(kind, { podLabels: labelled })])
        for (const operation of ['CREATE', 'RECONCILE'] as const)
          expect(said(judge(workload, operation, policies.excluded))).toBe('none excluded');
      const injected = instrumented(make(kind));
      const workload = { ...injected, metadata: { ...injected.metadata, labels: labelled } };
      expect(said(judge(workload, 'RECONCILE', policies.excluded))).toBe('none excluded');
    }
  });

  it.each(everyKind)('about a %s that opts in by itself', (name, kind) => {
    const workload = make(kind, { labels: { [labels.autoTrace]: 'true' } });
    const injected = instrumented(workload);
    expect(said(judge(workload, 'CREATE', policies.none))).toBe('inject opted-in');
    // It says so itself; a Lumigo that is there has the last word.
    for (const state of states)
      if (state !== 'none') expect(said(judge(workload, 'CREATE', policies[state]))).toBe(leftAlone[state]);
    expect(said(judge(injected, 'RECONCILE', policies['disabled, to be removed']))).toBe(
      name === 'Job' ? 'none job-immutable-removal!' : 'remove removed',
    );
  });
});

describe('D5: pods on Windows', () => {
  it('are left as they are, whatever they hold', () => {
    fc.assert(
      fc.property(podTemplate({ unknownFields: true }), fc.constantFrom(...workloads), (template, kind) => {
        // An opted-out pod has a reason of its own, and one without metadata selects nothing.
        const workload = withTemplate(make(kind), onWindows({ ...template, metadata: { labels: { app: 'app' } } }));
        expect(said(judge(workload, 'CREATE', policies.active))).toBe('none windows');
        expect(said(judge(workload, 'RECONCILE', policies.active))).toBe('none windows');
      }),
      { numRuns: 300 },
    );
  });
});

describe('D17: what has become impossible to inject', () => {
  it('loses its injection, and says why', () => {
    const injected = instrumented(make(workloadKinds.deployment));
    const template = templateOf(injected);
    if (template === undefined) throw new Error('no template');
    const containers = template.spec.containers.map((container) => ({
      ...container,
      resources: { limits: { 'ephemeral-storage': '50Mi' } },
    }));
    const changed = withTemplate(injected, { ...template, spec: { ...template.spec, containers } });
    const decision = judge(changed, 'UPDATE', policies.active, injected);
    expect(decision).toMatchObject({ action: 'remove', code: 'removed' });
    expect(decision.message).toMatch(/too low for the injector/);
    if (decision.action === 'remove') expect(JSON.stringify(decision.workload)).not.toContain('lumigo-injector');
  });
});
