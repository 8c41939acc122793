import type { InjectorReport } from '../api/lumigo.ts';

/** What the installation decides for every injection. */
export interface InjectorSettings {
  /** The operator's version, e.g. `1.2.3`. */
  readonly version: string;
  readonly image: string;
  readonly imagePullPolicy: 'Always' | 'IfNotPresent' | 'Never';
  /** Names of pull secrets to add to the pod; they must exist in the workload's namespace. */
  readonly imagePullSecrets: readonly string[];
  /** The telemetry proxy's base URL, without a trailing slash. */
  readonly endpoint: string;
  /** OpenShift assigns user ids per namespace and refuses a pinned one. */
  readonly platform: 'kubernetes' | 'openshift';
  /** Names of containers that are left alone unless an annotation asks for them. */
  readonly sidecars?: readonly string[];
}

/** What a Lumigo resource (or an opted-in workload's labels) decides for its workloads. */
export interface TracingSettings {
  readonly secretName: string;
  readonly secretKey: string;
  readonly traces: boolean;
  readonly logs: boolean;
}

/** Which containers are injected: by name, as annotations say, and which are known to be somebody else's. */
export interface ContainerChoice {
  /** These and no others; undefined: all. */
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
}

/** Everything `inject` needs to know. */
export interface InjectionSettings extends InjectorSettings, TracingSettings {
  /** What the workload's own annotations say; those of the pod template win. */
  readonly choice?: ContainerChoice;
}

/** What holds in one namespace; derived from its Lumigo resources by `policyOf`. */
export type NamespacePolicy =
  | { readonly state: 'none' }
  /** The installation leaves the namespace alone, whatever is in it. */
  | { readonly state: 'excluded' }
  | {
      readonly state: 'active';
      readonly lumigo: string;
      readonly tracing: TracingSettings;
      readonly createdAt: string;
      readonly injectExisting: boolean;
      /** Whether its injections go when it does. */
      readonly remove: boolean;
      /** What the leader knows of the injector, if that keeps anything from being injected. */
      readonly injector?: InjectorReport;
    }
  /** Pods are injected as they are created, and no workload is (docs/use/pod-mode.md). */
  | {
      readonly state: 'pods';
      readonly lumigo: string;
      readonly tracing: TracingSettings;
      readonly createdAt: string;
      readonly injectExisting: boolean;
    }
  /** `pods`: it was pods that were injected. */
  | { readonly state: 'disabled'; readonly lumigo: string; readonly remove: boolean; readonly pods?: true }
  /** `needs`: what to do about the installation, in a sentence. */
  | { readonly state: 'inactive'; readonly lumigo: string; readonly reason: string; readonly needs?: string }
  | { readonly state: 'deleting'; readonly lumigo: string; readonly remove: boolean; readonly pods?: true };
