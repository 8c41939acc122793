import { annotations, labels } from '../contract.ts';
import type { InjectorReport } from '../api/lumigo.ts';
import type { Workload } from '../api/objects.ts';
import type { InjectorSettings, NamespacePolicy } from './types.ts';

export interface DecisionInput {
  readonly workload: Workload;
  /** The object before an UPDATE, if known. */
  readonly old?: Workload;
  readonly operation: 'CREATE' | 'UPDATE' | 'RECONCILE';
  readonly policy: NamespacePolicy;
  readonly injector: InjectorSettings;
  /** The leader's report about the injector, for the webhook. The reconciler has fresher knowledge. */
  readonly report?: InjectorReport | undefined;
  readonly now: string;
  readonly by: 'webhook' | 'controller';
  /** Renews an injection of an older version even if nothing else asks for it. */
  readonly renew?: boolean;
  /** The number of times that an injection of this program was reverted. Default: 0. */
  readonly attempt?: number;
  /** It is reverted if the workload still has it. */
  readonly failed?: FailedInjection | undefined;
}

export interface FailedInjection {
  /** The fingerprint of the pod template. */
  readonly template: string;
  readonly injectionStatus: string | undefined;
  readonly attempt: number;
  readonly evidence: { readonly cause: string; readonly message: string };
}

interface Outcome {
  readonly code: Code;
  readonly message: string;
  /** The telemetry proxy's URL of a kept injection, if it is another proxy, which may no longer exist. */
  readonly elsewhere?: string;
}

type ChangeKind = 'add' | 'update' | 'remove';

export interface Untouched extends Outcome {
  readonly kind: 'none';
  /** The change that cannot be made, for an event. `nothing`: the workload is as it must be. */
  readonly tried: ChangeKind | 'nothing';
}

export interface Injected extends Outcome {
  readonly kind: 'inject';
  /** `nothing`: corrects labels or annotations of the operator without an event. */
  readonly tried: 'add' | 'update' | 'nothing';
  readonly workload: Workload;
  readonly skipped: readonly string[];
}

interface Removed extends Outcome {
  readonly kind: 'remove';
  readonly tried: 'remove';
  readonly workload: Workload;
  readonly cause: Code;
}

export type Decision = Untouched | Injected | Removed;

export const isBlocked = ({ kind, tried }: Decision): boolean => kind === 'none' && tried !== 'nothing';

/** The words for a change in events, metrics and the workload's annotation. */
export const changeFor = { add: 'added', update: 'updated', remove: 'removed', nothing: 'none' } as const;

const messages = {
  deleting: () => 'The resource is being deleted; it will not be mutated',
  'other-kind': (_namespace, kind) => `Resources of type ${kind} are not instrumented; resource will not be mutated`,
  'no-template': () => 'The resource has no pod template of the form that Kubernetes defines; it will not be mutated',
  'job-update': () => "A Job's pod template cannot change once the Job exists; resource will not be mutated",
  'opted-out': () => `the resource has the '${labels.autoTrace}' label set to 'false'; resource will not be mutated`,
  'left-to-owner': (_namespace, owner) =>
    `The resource belongs to ${owner}, which sets its pod template; resource will not be mutated`,
  excluded: (namespace) => `The '${namespace}' namespace is never instrumented; resource will not be mutated`,
  windows: () => 'Pods on Windows are not instrumented; resource will not be mutated',
  architecture: () =>
    'The injector supports only amd64 and arm64, and the pods require another architecture; resource will not be mutated',
  'no-lumigo': (namespace) => `No Lumigo configuration for the '${namespace}' namespace; resource will not be mutated`,
  disabled: (namespace) =>
    `Tracing injection is disabled in the '${namespace}' namespace; resource will not be mutated`,
  inactive: (namespace, reason) =>
    `The Lumigo resource in the '${namespace}' namespace is not active (${reason}); resource will not be mutated`,
  'lumigo-deleting': (namespace) =>
    `The Lumigo resource in the '${namespace}' namespace is being deleted; resource will not be mutated`,
  'pod-mode': (namespace) =>
    `The Lumigo resource in the '${namespace}' namespace injects pods when they are created; workloads are not changed`,
  'mirror-pod': () => 'The pod mirrors a static pod, which a file on its node describes; it will not be mutated',
  'no-pod-mode': (namespace) =>
    `No Lumigo resource in the '${namespace}' namespace injects pods; the pod will not be mutated`,
  'not-selected': (namespace) =>
    `The selector of the Lumigo resource in the '${namespace}' namespace does not select the resource; resource will not be mutated`,
  'existing-left': () => 'The resource is older than the Lumigo resource, which does not change existing resources',
  'up-to-date': () => 'The injection is in place and up to date',
  'too-large': (_namespace, why) => `The resource exceeds the size limit and is not changed: ${why}`,
  reverted: (_namespace, evidence) =>
    `The injection was removed because pods failed with it (${evidence}). It may be added again when the images, the commands, the injector or the annotation '${annotations.retry}' change`,
  'injector-failing': (_namespace, why) => `The resource is not injected for now because the injection fails: ${why}`,
  'injector-unverified': () => 'The resource is not injected before another workload has shown that the injector runs',
  refused: (_namespace, reason) => `Lumigo instrumentation cannot be added: ${reason}`,
  'job-immutable': () =>
    "A Job's pod template cannot change once the Job exists; create it again to have it instrumented",
  'job-immutable-removal': (_namespace, evidence) =>
    `A Job's pod template cannot change once the Job exists; the injection stays until the Job is deleted${evidence && `, although its pods fail: ${evidence}`}`,
  'job-finished': () => 'The Job is finished; resource will not be mutated',
  injected: (namespace) => `Injected, as the Lumigo resource in the '${namespace}' namespace requests`,
  'opted-in': () => `Injected, as the resource's own labels request ('${labels.autoTrace}' is 'true')`,
  'left-behind': (namespace) =>
    `There is no Lumigo resource in the '${namespace}' namespace any more, and the resource does not opt in by its labels`,
  kept: (namespace) => `The injection stays, as the Lumigo resource in the '${namespace}' namespace requests`,
  restored: () => 'The pod template is unchanged; its injection stays',
  relabelled: () => 'The injection is in place; its label was restored',
  removed: () => 'The injection is removed',
} satisfies Record<string, (namespace: string, detail: string) => string>;

export type Code = keyof typeof messages;

export const sentence = (code: Code, { metadata }: Workload, detail = ''): string =>
  messages[code](metadata.namespace ?? '', detail);

export const none = (code: Code, workload: Workload, detail?: string): Untouched => ({
  kind: 'none',
  tried: 'nothing',
  code,
  message: sentence(code, workload, detail),
});

/** Returns a decision without a change, which an event reports because the change cannot be made. */
export const blocked = (tried: ChangeKind, code: Code, workload: Workload, detail?: string): Untouched => ({
  ...none(code, workload, detail),
  tried,
});

export const corrected = (workload: Workload, code: Code, message = sentence(code, workload)): Injected => ({
  kind: 'inject',
  tried: 'nothing',
  workload,
  code,
  message,
  skipped: [],
});
