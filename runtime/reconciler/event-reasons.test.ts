import { describe, expect, it } from '@jest/globals';
import {
  active,
  changed as written,
  decided,
  failedIn,
  injector,
  instrumented,
  made,
  older,
  podsPolicy,
  tracing,
  withMetadata,
} from '../../sandbox/testing/injection.ts';
import { annotations, labels, workloadKinds } from '../contract.ts';
import { decidePod } from '../injection/decide-pod.ts';
import type { Decision, DecisionInput } from '../injection/decide.ts';
import { changeFor, isBlocked, type Code } from '../injection/decision.ts';
import type { Workload } from '../api/objects.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { cannot, changed } from './describe-events.ts';
import type { ObservedWorkload } from './observed.ts';

/** Each code of a decision has one of the six event reasons of the requirements, or none. */

const { deployment, replicaSet, job } = workloadKinds;
const now = '2026-06-01T00:00:00.000Z';
const none: NamespacePolicy = { kind: 'none' };
const deleting: NamespacePolicy = { kind: 'deleting', lumigo: 'lumigo', remove: true };
const keeping: NamespacePolicy = { ...deleting, remove: false };
const podMode = podsPolicy(tracing);

const judgePod = (policy: NamespacePolicy, podAnnotations = {}): Decision => {
  const metadata = { namespace: 'shop', name: 'pod', annotations: podAnnotations };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'app' }] } };
  return decidePod({ pod: pod as unknown as Workload, policy, injector });
};

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
const known = (health: 'failing' | 'unverified'): Partial<DecisionInput> => ({
  ...{ operation: 'CREATE', by: 'webhook', report: { health, why: 'it crashed' } },
});

const ADDED = 'LumigoAddedInstrumentation';
const UPDATED = 'LumigoUpdatedInstrumentation';
const REMOVED = 'LumigoRemovedInstrumentation';
const CANNOT_ADD = 'LumigoCannotAddInstrumentation';
const CANNOT_UPDATE = 'LumigoCannotUpdateInstrumentation';
const CANNOT_REMOVE = 'LumigoCannotRemoveInstrumentation';
const NO_EVENT = undefined;

type Row = readonly [reason: string | undefined, situation: string, decision: () => Decision];

const table: Readonly<Record<Code, readonly Row[]>> = {
  deleting: [[NO_EVENT, 'is being deleted', () => decided(withMetadata(made(), { deletionTimestamp: now }))]],
  'other-kind': [[NO_EVENT, 'is of another kind', () => decided({ ...made(), kind: 'ControllerRevision' })]],
  'no-template': [[NO_EVENT, 'has no pod template', () => decided({ ...made(), spec: {} })]],
  'job-update': [[NO_EVENT, 'is a Job that a user changes', () => decided(made({}, job), { operation: 'UPDATE' })]],
  'opted-out': [[NO_EVENT, 'opts out', () => decided(made({ labels: optOut }))]],
  'left-to-owner': [
    [
      NO_EVENT,
      'is a ReplicaSet of a Deployment',
      () => {
        const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'app', uid: 'u', controller: true };
        return decided(withMetadata(made({}, replicaSet), { ownerReferences: [owner] }));
      },
    ],
  ],
  excluded: [[NO_EVENT, 'is in an excluded namespace', () => decided(made(), { policy: { kind: 'excluded' } })]],
  windows: [[NO_EVENT, 'needs Windows', () => decided(made({ pod: { os: { name: 'windows' } } }))]],
  architecture: [
    [NO_EVENT, 'needs s390x', () => decided(made({ pod: { nodeSelector: { 'kubernetes.io/arch': 's390x' } } }))],
  ],
  'no-lumigo': [[NO_EVENT, 'has no Lumigo', () => decided(made(), { policy: none })]],
  disabled: [
    [NO_EVENT, 'is disabled', () => decided(made(), { policy: { kind: 'disabled', lumigo: 'lumigo', remove: true } })],
  ],
  inactive: [
    [NO_EVENT, 'is inactive', () => decided(made(), { policy: { kind: 'inactive', lumigo: 'lumigo', reason: '' } })],
  ],
  'lumigo-deleting': [[NO_EVENT, 'has a Lumigo that is deleted', () => decided(made(), { policy: deleting })]],
  'pod-mode': [[NO_EVENT, 'is in a namespace in Pod mode', () => decided(made(), { policy: podMode })]],
  'mirror-pod': [[NO_EVENT, 'is a mirror pod', () => judgePod(podMode, { [annotations.mirror]: 'x' })]],
  'no-pod-mode': [[NO_EVENT, 'is a pod without Pod mode', () => judgePod(none)]],
  'not-selected': [
    [
      NO_EVENT,
      'is not selected',
      () => decided(made(), { policy: { ...active, selector: { matchLabels: { a: 'b' } } } }),
    ],
  ],
  'existing-left': [
    [
      NO_EVENT,
      'is older than a Lumigo that skips existing ones',
      () =>
        decided(withMetadata(made(), { creationTimestamp: '2025-01-01T00:00:00Z' }), {
          policy: { ...active, injectExisting: false },
        }),
    ],
  ],
  'up-to-date': [[NO_EVENT, 'is injected', () => decided(instrumented())]],
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
  reverted: [[NO_EVENT, 'was reverted', () => decided(written(revert(instrumented())))]],
  'injector-failing': [[NO_EVENT, 'is new while the injector fails', () => decided(made(), known('failing'))]],
  'injector-unverified': [
    [NO_EVENT, 'is a new Job while the injector is unverified', () => decided(made({}, job), known('unverified'))],
  ],
  forgotten: [
    [NO_EVENT, 'was reverted before its Lumigo went', () => decided(written(revert(instrumented())), { policy: none })],
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
  'job-finished': [
    [NO_EVENT, 'is a finished Job', () => decided({ ...made({}, job), status: { completionTime: now } } as Workload)],
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
  'left-behind': [],
  kept: [[NO_EVENT, 'is injected and stays so', () => decided(instrumented(), { policy: keeping })]],
  restored: [
    [
      NO_EVENT,
      'is sent without its injection',
      () => decided(made(), { operation: 'UPDATE', old: instrumented(), by: 'webhook' }),
    ],
  ],
  relabelled: [
    [NO_EVENT, 'is injected and has lost its label', () => decided(withLabels(instrumented(), { app: 'app' }))],
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
  it.each(
    rows.map(([reason, situation, decision, code]) => [situation, code, reason ?? 'no event', decision] as const),
  )('%s is decided as "%s" and gets %s [F78]', (_situation, code, reason, decision) => {
    const result = decision();
    expect(result.code).toBe(code);
    expect(getReasons(result)).toEqual([reason === 'no event' ? undefined : reason]);
  });
});
