/**
 * The shapes that the injection reads and writes: raw JSON as the API server sends it. Fields that are not named here
 * pass through untouched, which is why every interface is open.
 */

export interface Named {
  readonly name: string;
  readonly [field: string]: unknown;
}

export interface EnvVar extends Named {
  readonly value?: string;
  readonly valueFrom?: unknown;
}

export interface VolumeMount extends Named {
  readonly mountPath: string;
}

export interface Resources {
  readonly requests?: Readonly<Record<string, string | number>>;
  readonly limits?: Readonly<Record<string, string | number>>;
  readonly [field: string]: unknown;
}

export interface Container extends Named {
  readonly env?: readonly EnvVar[];
  readonly volumeMounts?: readonly VolumeMount[];
  readonly resources?: Resources;
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly Named[];
  readonly imagePullSecrets?: readonly { readonly name?: string }[];
  readonly securityContext?: {
    readonly runAsUser?: number;
    readonly fsGroup?: number;
    readonly [field: string]: unknown;
  };
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly os?: { readonly name?: string };
  readonly resources?: Resources;
  readonly [field: string]: unknown;
}

export interface Metadata {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly { readonly kind: string; readonly name: string; readonly controller?: boolean }[];
  readonly finalizers?: readonly string[];
  readonly [field: string]: unknown;
}

export interface PodTemplate {
  readonly metadata?: Metadata;
  readonly spec: PodSpec;
  readonly [field: string]: unknown;
}

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
}

/** What a Lumigo resource (or an opted-in workload's labels) decides for its workloads. */
export interface TracingSettings {
  readonly secretName: string;
  readonly secretKey: string;
  readonly traces: boolean;
  readonly logs: boolean;
}

/** Everything `inject` needs to know. */
export interface InjectionSettings extends InjectorSettings, TracingSettings {}

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
    }
  | { readonly state: 'disabled'; readonly lumigo: string; readonly remove: boolean }
  | { readonly state: 'inactive'; readonly lumigo: string; readonly reason: string }
  | { readonly state: 'deleting'; readonly lumigo: string; readonly remove: boolean };

/** RFC 6902. */
export type PatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/** A Lumigo resource. The schema fills the defaults; readers tolerate a missing field all the same (an older CRD may be installed). */
export interface LumigoResource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata & { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly spec?: LumigoSpec;
  readonly status?: LumigoStatus;
}

export interface LumigoSpec {
  readonly lumigoToken?: { readonly secretRef?: { readonly name?: string; readonly key?: string } };
  readonly tracing?: {
    readonly enabled?: boolean;
    readonly injection?: {
      readonly enabled?: boolean;
      readonly injectLumigoIntoExistingResourcesOnCreation?: boolean;
      readonly removeLumigoFromResourcesOnDeletion?: boolean;
    };
  };
  readonly logging?: { readonly enabled?: boolean };
  readonly infrastructure?: { readonly enabled?: boolean; readonly kubeEvents?: { readonly enabled?: boolean } };
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
}

export interface LumigoStatus {
  readonly conditions?: readonly Condition[];
  readonly instrumentedResources?: readonly InstrumentedResource[];
  readonly instrumentedResourcesCount?: number;
  readonly secretVersion?: string;
  readonly observedGeneration?: number;
}
