import { describe, expect, it } from '@jest/globals';
import {
  active,
  changed as written,
  decided,
  failedIn,
  instrumented,
  made,
  older,
  tracing,
  withMetadata,
} from '../../sandbox/testing/injection.ts';
import { labels, workloadKinds } from '../contract.ts';
import type { Decision } from '../injection/decide.ts';
import { changeFor, isBlocked, type Code } from '../injection/decision.ts';
import type { Workload } from '../api/objects.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { cannot, changed } from './describe-events.ts';
import type { ObservedWorkload } from './observed.ts';

/** Each other code of a decision has one of the six event reasons of the requirements. */

const { deployment, job } = workloadKinds;
const now = '2026-06-01T00:00:00.000Z';
const none: NamespacePolicy = { kind: 'none' };
const deleting: NamespacePolicy = { kind: 'deleting', lumigo: 'lumigo', remove: true };
const withLabels = (workload: Workload, own: Readonly<Record<string, string>>): Workload =>
  withMetadata(workload, { labels: own });
const withEnv = (workload: Workload, count: number): Workload => {
  const text = JSON.stringify({ ...workload, spec: { ...(workload['spec'] as object) } });
  const more = Array.from({ length: count }, (_, index) => `{"name":"e${index}"}`).join(',');
  return JSON.parse(text.replace('"env":[', `"env":[${more},`)) as Workload;
};

const optIn = { [labels.autoTrace]: 'true' };
const optOut = { [labels.autoTrace]: 'false' };
const refusing = { pod: { volumes: [{ name: 'lumigo-injector', emptyDir: {} }] } };
const env = [{ name: 'A' }];
const LARGE = 25_000;
const NEARLY_LARGE = 3_310;

const revert = (workload: Workload): Decision => decided(workload, { failed: failedIn(workload) });

const ADDED = 'LumigoAddedInstrumentation';
const UPDATED = 'LumigoUpdatedInstrumentation';
const REMOVED = 'LumigoRemovedInstrumentation';
const CANNOT_ADD = 'LumigoCannotAddInstrumentation';
const CANNOT_UPDATE = 'LumigoCannotUpdateInstrumentation';
const CANNOT_REMOVE = 'LumigoCannotRemoveInstrumentation';

/** Nothing is tried with these, as the tests of the decision show, so they have no event. */
type Silent =
  | 'deleting'
  | 'other-kind'
  | 'no-template'
  | 'job-update'
  | 'job-finished'
  | 'opted-out'
  | 'left-to-owner'
  | 'left-behind'
  | 'excluded'
  | 'windows'
  | 'architecture'
  | 'no-lumigo'
  | 'disabled'
  | 'inactive'
  | 'lumigo-deleting'
  | 'pod-mode'
  | 'mirror-pod'
  | 'no-pod-mode'
  | 'not-selected'
  | 'existing-left'
  | 'up-to-date'
  | 'reverted'
  | 'forgotten'
  | 'injector-failing'
  | 'injector-unverified'
  | 'kept'
  | 'restored'
  | 'relabelled';

type Row = readonly [reason: string, situation: string, decision: () => Decision];

const table: Readonly<Record<Exclude<Code, Silent>, readonly Row[]>> = {
  'too-large': [
    [CANNOT_ADD, 'is too large', () => decided(withEnv(made({ env }), LARGE))],
    [CANNOT_ADD, 'would be too large', () => decided(withEnv(made({ env }), NEARLY_LARGE))],
    [
      CANNOT_ADD,
      'opts in and is too large',
      () => decided(withEnv(made({ env, labels: optIn }), LARGE), { policy: none }),
    ],
    [CANNOT_UPDATE, 'is injected and too large to renew', () => decided(withEnv(instrumented(made({ env })), LARGE))],
    [
      CANNOT_REMOVE,
      'is injected, opts out and is too large',
      () => decided(withEnv(withLabels(instrumented(made({ env })), optOut), LARGE)),
    ],
    [
      CANNOT_REMOVE,
      'is injected, too large, and its Lumigo is deleted',
      () => decided(withEnv(instrumented(made({ env })), LARGE), { policy: deleting }),
    ],
  ],
  refused: [
    [CANNOT_ADD, 'has a volume of the same name', () => decided(made(refusing))],
    [
      CANNOT_ADD,
      'opts in without a Lumigo and has a volume of the same name',
      () => decided(made({ ...refusing, labels: optIn }), { policy: none }),
    ],
  ],
  'job-immutable': [
    [CANNOT_ADD, 'is an existing Job', () => decided(made({}, job))],
    [
      CANNOT_ADD,
      'is an existing Job that opts in without a Lumigo',
      () => decided(made({ labels: optIn }, job), { policy: none }),
    ],
  ],
  'job-immutable-removal': [
    [
      CANNOT_REMOVE,
      'is an injected Job whose Lumigo is deleted',
      () => decided(instrumented(made({}, job)), { policy: deleting }),
    ],
    [CANNOT_REMOVE, 'is an injected Job that opts out', () => decided(withLabels(instrumented(made({}, job)), optOut))],
  ],
  injected: [
    [ADDED, 'is new', () => decided(made())],
    [
      UPDATED,
      'is injected with other settings',
      () => decided(instrumented(), { policy: { ...active, tracing: { ...tracing, logs: true } } }),
    ],
    [
      UPDATED,
      'is injected by an older version that is to be renewed',
      () => decided(written(decided(made(), { operation: 'CREATE', injector: older })), { renew: true }),
    ],
  ],
  'opted-in': [
    [ADDED, 'opts in without a Lumigo', () => decided(made({ labels: optIn }), { policy: none })],
    [
      UPDATED,
      'is injected, and opts in with other settings after its Lumigo is deleted',
      () => decided(instrumented(made({ labels: { ...optIn, [labels.enableLogs]: 'true' } })), { policy: deleting }),
    ],
  ],
  removed: [
    [REMOVED, 'is injected, and its Lumigo is deleted', () => decided(instrumented(), { policy: deleting })],
    [REMOVED, 'is injected and opts out', () => decided(withLabels(instrumented(), optOut))],
    [REMOVED, 'is left behind', () => decided(instrumented(), { policy: none })],
    [REMOVED, 'is reverted', () => revert(instrumented())],
  ],
};

const observed: ObservedWorkload = {
  ...{ kind: deployment, namespace: 'shop', name: 'app', uid: 'u', resourceVersion: '1', generation: 1 },
  ...{ createdAt: now, label: undefined, deleting: false },
};

/** The reason does not depend on the namespace's policy, so each decision is described under every one. */
const getReasons = (decision: Decision): (string | undefined)[] => {
  const change = changeFor[decision.tried];
  const described = ([none, active, deleting] as const).map((policy) => {
    if (isBlocked(decision)) return cannot(observed, policy, decision).reason;
    return change === 'none' ? undefined : changed(observed, policy, change).reason;
  });
  return [...new Set(described)];
};

describe('a workload that', () => {
  const rows = Object.entries(table).flatMap(([code, found]) => found.map((row) => [...row, code] as const));
  it.each(rows.map(([reason, situation, decision, code]) => [situation, code, reason, decision] as const))(
    '%s is decided as "%s" and gets %s [F78]',
    (_situation, code, reason, decision) => {
      const result = decision();
      expect(result.code).toBe(code);
      expect(getReasons(result)).toEqual([reason]);
    },
  );
});
