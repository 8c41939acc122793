import { workloadKinds, type WorkloadKind } from '../../runtime/contract.ts';
import { decide, type Decision, type DecisionInput } from '../../runtime/injection/decide.ts';
import { inject } from '../../runtime/injection/inject.ts';
import type {
  InjectionSettings,
  InjectorSettings,
  NamespacePolicy,
  TracingSettings,
} from '../../runtime/injection/types.ts';
import type { PodTemplate, Workload } from '../../runtime/api/objects.ts';
import { workloadOf, type WorkloadOptions } from './workloads.ts';

/** The injector of an installation. */
export const injector: InjectorSettings = {
  version: '2.0.0',
  image: 'autotrace:2',
  imagePullPolicy: 'IfNotPresent',
  imagePullSecrets: [],
  endpoint: 'http://proxy',
  platform: 'kubernetes',
};

/** The same installation, before it was upgraded. */
export const older: InjectorSettings = { ...injector, version: '1.0.0', image: 'autotrace:1' };

export const tracing: TracingSettings = { secretName: 's', secretKey: 'k', traces: true, logs: false };

/** The injection of the older one for a Lumigo, with a pull secret to be added. */
export const settings: InjectionSettings = { ...older, imagePullSecrets: ['registry'], ...tracing };

const ofLumigo = { lumigo: 'lumigo', createdAt: '2026-01-01T00:00:00Z', injectExisting: true } as const;

/** The policy of a namespace whose Lumigo is active. */
export const activePolicy = (tracing: TracingSettings) =>
  ({ ...ofLumigo, state: 'active', tracing, remove: true }) as const satisfies NamespacePolicy;

/** The policy of a namespace whose active Lumigo is in Pod mode. */
export const podsPolicy = (tracing: TracingSettings) =>
  ({ ...ofLumigo, state: 'pods', tracing }) as const satisfies NamespacePolicy;

export const active = activePolicy(tracing);

/** Returns the injected pod template; undefined if the pod cannot be injected. */
export const injected = (template: PodTemplate, by: InjectionSettings = settings): PodTemplate | undefined => {
  const result = inject(template, by);
  return result.refused === undefined ? result.template : undefined;
};

/** Returns a small valid workload. */
export const made = (options: WorkloadOptions = {}, kind: WorkloadKind = workloadKinds.deployment): Workload =>
  workloadOf(kind, 'shop', 'app', options) as unknown as Workload;

/** Returns the reconciler's decision about a workload in the namespace of an active `Lumigo`. */
export const decided = (workload: Workload, more: Partial<DecisionInput> = {}): Decision =>
  decide({
    ...{ workload, operation: 'RECONCILE', policy: active, injector, by: 'controller' },
    now: '2026-06-01T00:00:00.000Z',
    ...more,
  });

/**
 * Returns the workload as a decision changes it.
 * @throws Error if it changes nothing
 */
export function changed(decision: Decision): Workload {
  if (decision.action === 'none') throw new Error(decision.message);
  return decision.workload;
}

/** Returns the workload as the webhook injects it. */
export const instrumented = (workload: Workload = made(), more: Partial<DecisionInput> = {}): Workload =>
  changed(decided(workload, { operation: 'CREATE', by: 'webhook', ...more }));

/** Returns the workload with other metadata. */
export const withMetadata = (workload: Workload, metadata: Workload['metadata']): Workload => ({
  ...workload,
  metadata: { ...workload.metadata, ...metadata },
});
