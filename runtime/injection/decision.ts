import { annotations, labels } from '../contract.ts';
import type { InjectorSettings, NamespacePolicy, Workload } from './types.ts';

export interface DecisionInput {
  /** The whole object, as it is or is about to be. */
  readonly workload: Workload;
  /** What an UPDATE changes, where that is known. */
  readonly old?: Workload;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'RECONCILE';
  readonly policy: NamespacePolicy;
  readonly injector: InjectorSettings;
  /** ISO 8601, for the stamp. */
  readonly now: string;
  readonly by: 'webhook' | 'controller';
  /** Whether an injection of an older version is renewed although nothing else asks for it. */
  readonly renew?: boolean;
}

/** A code for programs and tests, a sentence for people. */
interface Outcome {
  readonly code: Code;
  readonly message: string;
  /** The telemetry proxy to which an injection that is left as it is makes the programs send, where it is another than this operator's: it may be gone. */
  readonly elsewhere?: string;
}

/** What a decision tries to do about the injection of a workload. */
export type Attempt = 'add' | 'update' | 'remove';

interface Untouched extends Outcome {
  readonly action: 'none';
  /** What cannot be done, so that an event says so. `nothing`: the workload is as it must be. */
  readonly tried: Attempt | 'nothing';
}

interface Injected extends Outcome {
  readonly action: 'inject';
  /** `nothing`: labels or annotations of the operator are corrected, and no event reports it. */
  readonly tried: 'add' | 'update' | 'nothing';
  readonly workload: Workload;
  readonly leftAlone: readonly string[];
}

interface Removed extends Outcome {
  readonly action: 'remove';
  readonly tried: 'remove';
  readonly workload: Workload;
}

export type Decision = Untouched | Injected | Removed;

/** Returns whether a workload must be changed and cannot be. */
export const isBlocked = ({ action, tried }: Decision): boolean => action === 'none' && tried !== 'nothing';

/** Names the change that a successful attempt makes, as events, metrics and the workload's annotation say it. */
export const changeFor = { add: 'added', update: 'updated', remove: 'removed', nothing: 'none' } as const;

/** What every code says, of a namespace and whatever else it is about. */
const messages = {
  deleted: () => 'Nothing is injected on deletions; resource will not be mutated',
  deleting: () => 'The resource is being deleted; it will not be mutated',
  'other-kind': (_namespace: string, kind: string) =>
    `Resources of type ${kind} are not instrumented; resource will not be mutated`,
  'no-template': () => 'The resource has no pod template; it will not be mutated',
  'job-update': () => "A Job's pod template cannot change once the Job exists; resource will not be mutated",
  'opted-out': () => `the resource has the '${labels.autoTrace}' label set to 'false'; resource will not be mutated`,
  'left-to-owner': (_namespace: string, owner: string) =>
    `The resource belongs to ${owner}, which decides its pod template; resource will not be mutated`,
  excluded: (namespace: string) => `The '${namespace}' namespace is never instrumented; resource will not be mutated`,
  windows: () => 'Pods on Windows are not instrumented; resource will not be mutated',
  architecture: () =>
    'The injector is there for amd64 and arm64, and the pods ask for others; resource will not be mutated',
  'no-lumigo': (namespace: string) =>
    `No Lumigo configuration for the '${namespace}' namespace; resource will not be mutated`,
  disabled: (namespace: string) =>
    `Tracing injection is disabled in the '${namespace}' namespace; resource will not be mutated`,
  inactive: (namespace: string, reason: string) =>
    `The Lumigo in the '${namespace}' namespace is not active (${reason}); resource will not be mutated`,
  'lumigo-deleting': (namespace: string) =>
    `The Lumigo in the '${namespace}' namespace is being deleted; resource will not be mutated`,
  'pod-mode': (namespace: string) =>
    `The Lumigo in the '${namespace}' namespace injects pods as they are created; their workloads are left as they are`,
  'pods-halted': (_namespace: string, evidence: string) =>
    `No pod is injected for now, because of what pods with the injection did: ${evidence}`,
  'mirror-pod': () => "The pod mirrors one that a node's own files describe; it will not be mutated",
  'no-pod-mode': (namespace: string) =>
    `No Lumigo of the '${namespace}' namespace injects pods; the pod will not be mutated`,
  'existing-left': () => 'The resource is older than the Lumigo, which leaves existing resources as they are',
  'up-to-date': () => 'The injection is in place and up to date',
  'too-large': (_namespace: string, why: string) =>
    `The resource is too large to be decided about, ${why}; it is left as it is`,
  frozen: (_namespace: string, evidence: string) =>
    `The injection was put back because of what its pods did (${evidence}); it is tried again when the pod template, the injector or the annotation '${annotations.retry}' changes`,
  'waits-for-change': () => 'It is injected when its pod template next changes, as the setting rollout.strategy asks',
  'waits-for-approval': () =>
    `It is injected when its pod template next changes or it has the annotation '${annotations.retry}', as the setting rollout.strategy asks`,
  forgotten: () => 'Nothing of the injection is noted any more',
  refused: (_namespace: string, reason: string) => `Lumigo instrumentation cannot be added: ${reason}`,
  'job-immutable': () =>
    "A Job's pod template cannot change once the Job exists; its next run, created anew, is instrumented",
  'job-immutable-removal': () =>
    "A Job's pod template cannot change once the Job exists; the injection stays until the Job is gone",
  'job-finished': () => 'The Job is finished; resource will not be mutated',
  injected: (namespace: string) => `Injected, as the Lumigo in the '${namespace}' namespace asks`,
  'opted-in': () => `Injected, as the resource's own labels ask ('${labels.autoTrace}' is 'true')`,
  'left-behind': (namespace: string) =>
    `There is no Lumigo in the '${namespace}' namespace any more, and the resource does not ask for itself`,
  kept: (namespace: string) => `The injection stays, as the Lumigo in the '${namespace}' namespace asks`,
  restored: () => 'The pod template is unchanged; its injection stays as it was',
  relabelled: () => 'The injection is in place; its label was restored',
  removed: () => 'The injection is removed',
} as const satisfies Record<string, (namespace: string, detail: string) => string>;

export type Code = keyof typeof messages;

export const sentence = (code: Code, { metadata }: Workload, detail = ''): string =>
  messages[code](metadata.namespace ?? '', detail);

/** The workload stays as it is. */
export const none = (code: Code, workload: Workload, detail?: string): Untouched => ({
  ...{ action: 'none', tried: 'nothing', code },
  message: sentence(code, workload, detail),
});

/** The workload stays as it is because the attempt cannot succeed, which an event reports. */
export const blocked = (tried: Attempt, code: Code, workload: Workload, detail?: string): Untouched => ({
  ...none(code, workload, detail),
  tried,
});

/** The operator corrects something of its own, and no event reports it. */
export const putRight = (workload: Workload, code: Code): Injected => ({
  ...{ action: 'inject', tried: 'nothing', workload, code, message: sentence(code, workload), leftAlone: [] },
});
