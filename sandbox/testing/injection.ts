import { annotations, workloadKinds, type WorkloadKind } from '../../runtime/contract.ts';
import { decide } from '../../runtime/injection/decide.ts';
import type { Decision, DecisionInput, FailedInjection } from '../../runtime/injection/decision.ts';
import { fingerprint } from '../../runtime/injection/fingerprint.ts';
import { inject } from '../../runtime/injection/inject.ts';
import { injectionStatusText } from '../../runtime/injection/injection-status.ts';
import type {
  InjectionSettings,
  InjectorSettings,
  NamespacePolicy,
  TracingSettings,
} from '../../runtime/injection/types.ts';
import type { Container, PodSpec, PodTemplate, Workload } from '../../runtime/api/objects.ts';
import { toTemplate, withTemplate } from '../../runtime/injection/workload.ts';
import { createWorkload, type WorkloadOptions } from './workloads.ts';

export const injector: InjectorSettings = {
  version: '2.0.0',
  image: 'autotrace:2',
  imagePullPolicy: 'IfNotPresent',
  imagePullSecrets: [],
  endpoint: 'http://proxy',
  platform: 'kubernetes',
};

/** The same installation before its upgrade. */
export const older: InjectorSettings = { ...injector, version: '1.0.0', image: 'autotrace:1' };

export const tracing: TracingSettings = { secretName: 's', secretKey: 'k', traces: true, logs: false };

/** The older injection of a `Lumigo`, with a pull secret. */
export const settings: InjectionSettings = { ...older, imagePullSecrets: ['registry'], ...tracing };

const usual = { createdAt: '2026-01-01T00:00:00Z', injectExisting: true, remove: true } as const;
export const activePolicy = (tracing: TracingSettings) =>
  ({ kind: 'active', lumigo: 'lumigo', tracing, ...usual }) as const satisfies NamespacePolicy;

export const podsPolicy = (tracing: TracingSettings) =>
  ({ kind: 'pods', lumigo: 'lumigo', tracing }) as const satisfies NamespacePolicy;

export const active = activePolicy(tracing);

/** Returns undefined if the pod cannot be injected. */
export const injected = (template: PodTemplate, by: InjectionSettings = settings): PodTemplate | undefined => {
  const result = inject(template, by);
  return result.refused === undefined ? result.template : undefined;
};

/** Returns an injected pod template with another record, as a later release or a tenant can write it. */
export function withRecord({ metadata, spec }: PodTemplate, change: (record: object) => object): PodTemplate {
  const { [annotations.injection]: text = '{}', ...others } = metadata?.annotations ?? {};
  const record = JSON.stringify(change(JSON.parse(text) as object));
  return { metadata: { ...metadata, annotations: { ...others, [annotations.injection]: record } }, spec };
}

export const made = (options: WorkloadOptions = {}, kind: WorkloadKind = workloadKinds.deployment): Workload =>
  createWorkload(kind, 'shop', 'app', options) as unknown as Workload;

export const decided = (workload: Workload, more: Partial<DecisionInput> = {}): Decision =>
  decide({
    workload,
    operation: 'RECONCILE',
    policy: active,
    injector,
    by: 'controller',
    now: '2026-06-01T00:00:00.000Z',
    ...more,
  });

export function changed(decision: Decision): Workload {
  if (decision.kind === 'none') throw new Error(decision.message);
  return decision.workload;
}

export const instrumented = (workload: Workload = made(), more: Partial<DecisionInput> = {}): Workload =>
  changed(decided(workload, { operation: 'CREATE', by: 'webhook', ...more }));

/** The injection of a workload whose pods crash. */
export const failedIn = (workload: Workload): FailedInjection => ({
  template: fingerprint(toTemplate(workload)),
  injectionStatus: injectionStatusText(workload.metadata),
  attempt: 1,
  evidence: { cause: 'Crash', message: 'it crashed' },
});

export const withMetadata = (workload: Workload, metadata: Workload['metadata']): Workload => ({
  ...workload,
  metadata: { ...workload.metadata, ...metadata },
});

/** Returns the workload with other fields in its pod. */
export function withPod(workload: Workload, change: (pod: PodSpec) => object): Workload {
  const template = toTemplate(workload) as PodTemplate;
  return withTemplate(workload, { ...template, spec: { ...template.spec, ...change(template.spec) } });
}

export const withContainers = (workload: Workload, change: (container: Container) => object): Workload =>
  withPod(workload, ({ containers }) => ({ containers: containers.map((each) => ({ ...each, ...change(each) })) }));
