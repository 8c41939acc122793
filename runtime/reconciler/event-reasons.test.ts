import { describe, expect, it } from '@jest/globals';
import { injector, older, tracing } from '../../sandbox/testing/injection.ts';
import { createWorkload, type WorkloadOptions } from '../../sandbox/testing/workloads.ts';
import { annotations, labels, workloadKinds, type WorkloadKind } from '../contract.ts';
import { decidePod } from '../injection/decide-pod.ts';
import { decide, type Decision, type DecisionInput } from '../injection/decide.ts';
import { changeFor, isBlocked, type Code } from '../injection/decision.ts';
import { decideRevert } from '../injection/decide-revert.ts';
import type { Workload } from '../api/objects.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { cannot, changed } from './describe-events.ts';
import type { ObservedWorkload } from './observed.ts';

/** Each code of a decision has one of the six event reasons of the requirements, or none. */

const { deployment, replicaSet, job } = workloadKinds;
const now = '2026-06-01T00:00:00.000Z';
const active = {
  ...{ kind: 'active', lumigo: 'lumigo', createdAt: '2026-01-01T00:00:00Z', injectExisting: true, remove: true },
  tracing,
} as const satisfies NamespacePolicy;
const none: NamespacePolicy = { kind: 'none' };
const deleting: NamespacePolicy = { kind: 'deleting', lumigo: 'lumigo', remove: true };
const keeping: NamespacePolicy = { ...deleting, remove: false };
const podMode = { ...active, kind: 'pods' } as const;

const make = (options: WorkloadOptions = {}, kind: WorkloadKind = deployment): Workload =>
  createWorkload(kind, 'shop', 'app', options) as unknown as Workload;
const judge = (workload: Workload, more: Partial<DecisionInput> = {}): Decision =>
  decide({ workload, operation: 'RECONCILE', policy: active, injector, now, by: 'controller', ...more });
const judgePod = (policy: NamespacePolicy, podAnnotations = {}): Decision => {
  const metadata = { namespace: 'shop', name: 'pod', annotations: podAnnotations };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'app' }] } };
  return decidePod({ pod: pod as unknown as Workload, policy, injector });
};

function written(decision: Decision): Workload {
  if (decision.kind === 'none') throw new Error(decision.message);
  return decision.workload;
}
const instrumented = (options: WorkloadOptions = {}, kind: WorkloadKind = deployment): Workload =>
  written(judge(make(options, kind), { operation: 'CREATE' }));
const withLabels = (workload: Workload, own: Readonly<Record<string, string>>): Workload => ({
  ...workload,
  metadata: { ...workload.metadata, labels: own },
});
const withMetadata = (workload: Workload, more: object): Workload => ({
  ...workload,
  metadata: { ...workload.metadata, ...more },
});
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

const revert = (workload: Workload): Decision => {
  const reason = { at: now, cause: 'Crash', attempt: 1, evidence: 'it crashed' };
  const decision = decideRevert({ workload, image: injector.image, ...reason });
  if (decision === undefined) throw new Error('nothing is reverted');
  return decision;
};
const known = (health: 'failing' | 'unverified'): Partial<DecisionInput> => ({
  ...{ operation: 'CREATE', by: 'webhook', policy: { ...active, injector: { health, why: 'it crashed' } } },
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
  deleted: [[NO_EVENT, 'is deleted', () => judge(make(), { operation: 'DELETE' })]],
  deleting: [[NO_EVENT, 'is being deleted', () => judge(withMetadata(make(), { deletionTimestamp: now }))]],
  'other-kind': [[NO_EVENT, 'is of another kind', () => judge({ ...make(), kind: 'ControllerRevision' })]],
  'no-template': [[NO_EVENT, 'has no pod template', () => judge({ ...make(), spec: {} })]],
  'job-update': [[NO_EVENT, 'is a Job that a user changes', () => judge(make({}, job), { operation: 'UPDATE' })]],
  'opted-out': [[NO_EVENT, 'opts out', () => judge(make({ labels: optOut }))]],
  'left-to-owner': [
    [
      NO_EVENT,
      'is a ReplicaSet of a Deployment',
      () => {
        const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'app', uid: 'u', controller: true };
        return judge(withMetadata(make({}, replicaSet), { ownerReferences: [owner] }));
      },
    ],
  ],
  excluded: [[NO_EVENT, 'is in an excluded namespace', () => judge(make(), { policy: { kind: 'excluded' } })]],
  windows: [[NO_EVENT, 'needs Windows', () => judge(make({ pod: { os: { name: 'windows' } } }))]],
  architecture: [
    [NO_EVENT, 'needs s390x', () => judge(make({ pod: { nodeSelector: { 'kubernetes.io/arch': 's390x' } } }))],
  ],
  'no-lumigo': [[NO_EVENT, 'has no Lumigo', () => judge(make(), { policy: none })]],
  disabled: [
    [NO_EVENT, 'is disabled', () => judge(make(), { policy: { kind: 'disabled', lumigo: 'lumigo', remove: true } })],
  ],
  inactive: [
    [NO_EVENT, 'is inactive', () => judge(make(), { policy: { kind: 'inactive', lumigo: 'lumigo', reason: '' } })],
  ],
  'lumigo-deleting': [[NO_EVENT, 'has a Lumigo that is deleted', () => judge(make(), { policy: deleting })]],
  'pod-mode': [[NO_EVENT, 'is in a namespace in Pod mode', () => judge(make(), { policy: podMode })]],
  'mirror-pod': [[NO_EVENT, 'is a mirror pod', () => judgePod(podMode, { [annotations.mirror]: 'x' })]],
  'no-pod-mode': [[NO_EVENT, 'is a pod without Pod mode', () => judgePod(none)]],
  'not-selected': [
    [
      NO_EVENT,
      'is not selected',
      () => judge(make(), { policy: { ...active, selector: { matchLabels: { a: 'b' } } } }),
    ],
  ],
  'existing-left': [
    [
      NO_EVENT,
      'is older than a Lumigo that skips existing ones',
      () =>
        judge(withMetadata(make(), { creationTimestamp: '2025-01-01T00:00:00Z' }), {
          policy: { ...active, injectExisting: false },
        }),
    ],
  ],
  'up-to-date': [[NO_EVENT, 'is injected', () => judge(instrumented())]],
  'too-large': [
    [CANNOT_ADD, 'is too large', () => judge(withEnv(make({ env }), LARGE))],
    [CANNOT_ADD, 'would be too large', () => judge(withEnv(make({ env }), NEARLY_LARGE))],
    [
      CANNOT_ADD,
      'opts in and is too large',
      () => judge(withEnv(make({ env, labels: optIn }), LARGE), { policy: none }),
    ],
    [CANNOT_UPDATE, 'is injected and too large to renew', () => judge(withEnv(instrumented({ env }), LARGE))],
    [
      CANNOT_REMOVE,
      'is injected, opts out and is too large',
      () => judge(withEnv(withLabels(instrumented({ env }), optOut), LARGE)),
    ],
    [
      CANNOT_REMOVE,
      'is injected, too large, and its Lumigo is deleted',
      () => judge(withEnv(instrumented({ env }), LARGE), { policy: deleting }),
    ],
  ],
  reverted: [[NO_EVENT, 'was reverted', () => judge(written(revert(instrumented())))]],
  'injector-failing': [[NO_EVENT, 'is new while the injector fails', () => judge(make(), known('failing'))]],
  'injector-unverified': [
    [NO_EVENT, 'is a new Job while the injector is unverified', () => judge(make({}, job), known('unverified'))],
  ],
  forgotten: [
    [NO_EVENT, 'was reverted before its Lumigo went', () => judge(written(revert(instrumented())), { policy: none })],
  ],
  refused: [
    [CANNOT_ADD, 'has a volume of the same name', () => judge(make(refusing))],
    [
      CANNOT_ADD,
      'opts in without a Lumigo and has a volume of the same name',
      () => judge(make({ ...refusing, labels: optIn }), { policy: none }),
    ],
  ],
  'job-immutable': [
    [CANNOT_ADD, 'is an existing Job', () => judge(make({}, job))],
    [
      CANNOT_ADD,
      'is an existing Job that opts in without a Lumigo',
      () => judge(make({ labels: optIn }, job), { policy: none }),
    ],
  ],
  'job-immutable-removal': [
    [
      CANNOT_REMOVE,
      'is an injected Job whose Lumigo is deleted',
      () => judge(instrumented({}, job), { policy: deleting }),
    ],
    [CANNOT_REMOVE, 'is an injected Job that opts out', () => judge(withLabels(instrumented({}, job), optOut))],
  ],
  'job-finished': [
    [NO_EVENT, 'is a finished Job', () => judge({ ...make({}, job), status: { completionTime: now } } as Workload)],
  ],
  injected: [
    [ADDED, 'is new', () => judge(make())],
    [
      UPDATED,
      'is injected with other settings',
      () => judge(instrumented(), { policy: { ...active, tracing: { ...tracing, logs: true } } }),
    ],
    [
      UPDATED,
      'is injected by an older version that is to be renewed',
      () => judge(written(judge(make(), { operation: 'CREATE', injector: older })), { renew: true }),
    ],
  ],
  'opted-in': [
    [ADDED, 'opts in without a Lumigo', () => judge(make({ labels: optIn }), { policy: none })],
    [
      UPDATED,
      'is injected, and opts in with other settings after its Lumigo is deleted',
      () => judge(instrumented({ labels: { ...optIn, [labels.enableLogs]: 'true' } }), { policy: deleting }),
    ],
  ],
  'left-behind': [],
  kept: [[NO_EVENT, 'is injected and stays so', () => judge(instrumented(), { policy: keeping })]],
  restored: [
    [
      NO_EVENT,
      'is sent without its injection',
      () => judge(make(), { operation: 'UPDATE', old: instrumented(), by: 'webhook' }),
    ],
  ],
  relabelled: [
    [NO_EVENT, 'is injected and has lost its label', () => judge(withLabels(instrumented(), { app: 'app' }))],
  ],
  removed: [
    [REMOVED, 'is injected, and its Lumigo is deleted', () => judge(instrumented(), { policy: deleting })],
    [REMOVED, 'is injected and opts out', () => judge(withLabels(instrumented(), optOut))],
    [REMOVED, 'is left behind', () => judge(instrumented(), { policy: none })],
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
    const decided = decision();
    expect(decided.code).toBe(code);
    expect(getReasons(decided)).toEqual([reason === 'no event' ? undefined : reason]);
  });
});
