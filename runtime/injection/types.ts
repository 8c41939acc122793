import type { ConditionReason } from '../api/conditions.ts';
import type { LabelSelector } from '../api/label-selector.ts';
import type { EnvVar } from '../api/objects.ts';

export interface InjectorSettings {
  readonly version: string;
  readonly image: string;
  /** The image is a guess, so each record of a revert counts. */
  readonly isAssumed?: true | undefined;
  readonly imagePullPolicy: 'Always' | 'IfNotPresent' | 'Never';
  /** Names of pull secrets, which must exist in the workload's namespace. */
  readonly imagePullSecrets: readonly string[];
  /** The telemetry proxy's base URL, without a trailing slash. */
  readonly endpoint: string;
  /** OpenShift assigns user ids per namespace and refuses a pinned one. */
  readonly platform: 'kubernetes' | 'openshift';
  /** Names of containers that are skipped unless an annotation includes them. */
  readonly sidecars?: readonly string[];
  /** The treatment of containers that another tracer instruments. Default: `Skip`. */
  readonly otherTracers?: 'Skip' | 'Inject';
  /** The setting `rollout.strategy`, which decides how long a revert holds. */
  readonly strategy?: 'progressive' | 'immediate' | 'on-next-change' | 'manual' | undefined;
}

/** Settings for tracers by the variable's name. A value of the container's own wins. */
export type TracerVariables = Readonly<Record<string, Pick<EnvVar, 'value' | 'valueFrom'>>>;

export interface TracingSettings {
  readonly secretName: string;
  readonly secretKey: string;
  readonly traces: boolean;
  readonly logs: boolean;
  readonly env?: TracerVariables;
}

export interface ContainerChoice {
  readonly include?: ReadonlySet<string> | undefined;
  readonly exclude?: ReadonlySet<string> | undefined;
}

export interface InjectionSettings extends InjectorSettings, TracingSettings {
  readonly choice?: ContainerChoice;
}

export type NamespacePolicy =
  | { readonly kind: 'none' }
  /** The installation excludes the namespace. Only a deleted `Lumigo` has an effect in it. */
  | { readonly kind: 'excluded' }
  | {
      readonly kind: 'active';
      readonly lumigo: string;
      readonly tracing: TracingSettings;
      readonly selector?: LabelSelector;
      readonly createdAt: string;
      readonly injectExisting: boolean;
      /** Removes the injections when the `Lumigo` is deleted. */
      readonly remove: boolean;
    }
  /** Pods are injected at their creation, workloads are not (docs/use/pod-mode.md). */
  | {
      readonly kind: 'pods';
      readonly lumigo: string;
      readonly tracing: TracingSettings;
      readonly selector?: LabelSelector;
    }
  | { readonly kind: 'disabled'; readonly lumigo: string; readonly remove: boolean }
  /**
   * `message`: a sentence about what to change, if the reason is not in the Secret. Without a message, the reason is
   * that of the status, which the reconciler wrote, or the message of the original operator, which writes no reasons.
   */
  | { readonly kind: 'inactive'; readonly lumigo: string; readonly reason: string; readonly message?: undefined }
  | { readonly kind: 'inactive'; readonly lumigo: string; readonly reason: ConditionReason; readonly message: string }
  /** `isExcluded`: no workload of the namespace may opt in. */
  | { readonly kind: 'deleting'; readonly lumigo: string; readonly remove: boolean; readonly isExcluded?: true };
