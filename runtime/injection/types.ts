import type * as api from '@kubernetes/client-node';

/**
 * The shapes that the injection reads and writes: raw JSON as the API server sends it, with the times as text. Fields
 * that this version of Kubernetes does not have pass through untouched, which is why every object is open.
 */
export type Raw<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? readonly Raw<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: Raw<T[K]> } & { readonly [field: string]: unknown }
      : T;

/** The same of which nothing is taken for granted: for what is only read, from whichever server. */
export type Sparse<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? readonly Sparse<Item>[]
    : T extends object
      ? { readonly [K in keyof T]?: Sparse<T[K]> }
      : T;

export type Container = Raw<api.V1Container>;
export type EnvVar = NonNullable<Container['env']>[number];
export type VolumeMount = NonNullable<Container['volumeMounts']>[number];
export type Resources = NonNullable<Container['resources']>;
export type PodSpec = Raw<api.V1PodSpec>;
export type Volume = NonNullable<PodSpec['volumes']>[number];
export type Metadata = Raw<api.V1ObjectMeta>;

export type JobStatus = Raw<api.V1JobStatus>;
export type PodTemplate = Raw<api.V1PodTemplateSpec> & { readonly spec: PodSpec };

/** A Deployment, DaemonSet, StatefulSet, ReplicaSet, CronJob or Job, whole. */
export interface Workload {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly [field: string]: unknown;
}

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

/** RFC 6902. */
export type PatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/** A Lumigo resource. The schema fills the defaults; readers tolerate a missing field all the same (an older CRD may be installed). */
export interface LumigoResource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata & {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    /** In memory only (lumigo/essential-lumigo.ts): differs if labels or annotations differ. */
    readonly labelsDigest?: string;
  };
  readonly spec?: LumigoSpec;
  readonly status?: LumigoStatus;
}

export interface LumigoSpec {
  readonly lumigoToken?: { readonly secretRef?: { readonly name?: string; readonly key?: string } };
  readonly tracing?: {
    readonly enabled?: boolean;
    readonly injection?: {
      readonly enabled?: boolean;
      readonly mode?: 'Workload' | 'Pod';
      readonly injectLumigoIntoExistingResourcesOnCreation?: boolean;
      readonly removeLumigoFromResourcesOnDeletion?: boolean;
    };
  };
  readonly logging?: { readonly enabled?: boolean };
  readonly infrastructure?: { readonly enabled?: boolean; readonly kubeEvents?: { readonly enabled?: boolean } };
}

/** A reason for a Lumigo not to act: CamelCase for programs, a sentence for people. */
export interface Problem {
  readonly reason: string;
  readonly message: string;
}

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

export interface InstrumentedResource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly resourceVersion: string;
  readonly uid: string;
  /** How far its rollout is; left out where that is not known. */
  readonly state?: 'RollingOut' | 'Verified';
}

/** `unverified`: a workload is about to show how the injector fares. `failing`: workloads, or the injector itself, failed. */
export interface InjectorReport {
  readonly health: 'unverified' | 'failing';
  /** A sentence. */
  readonly why: string;
}

export interface LumigoStatus {
  readonly conditions?: readonly Condition[];
  readonly instrumentedResources?: readonly InstrumentedResource[];
  readonly instrumentedResourcesCount?: number;
  readonly secretVersion?: string;
  /** What keeps the webhook from injecting anything new, or whatever cannot be taken back. */
  readonly injector?: InjectorReport;
  readonly observedGeneration?: number;
}
