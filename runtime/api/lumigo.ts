import type { LabelSelector } from './label-selector.ts';
import type { ConditionReason } from './conditions.ts';
import type { Metadata } from './objects.ts';

/** A `Lumigo` resource. An older CRD may be installed, so readers accept missing fields. */
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
    readonly env?: readonly TracerSetting[];
    readonly injection?: {
      readonly enabled?: boolean;
      readonly mode?: 'Workload' | 'Pod';
      readonly selector?: LabelSelector;
      readonly injectLumigoIntoExistingResourcesOnCreation?: boolean;
      readonly removeLumigoFromResourcesOnDeletion?: boolean;
    };
  };
  readonly logging?: { readonly enabled?: boolean };
  readonly infrastructure?: { readonly enabled?: boolean; readonly kubeEvents?: { readonly enabled?: boolean } };
}

export interface TracerSetting {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: Readonly<Partial<Record<'secretKeyRef' | 'configMapKeyRef', KeyReference>>>;
}

interface KeyReference {
  readonly name: string;
  readonly key: string;
}

export interface Problem {
  readonly reason: ConditionReason;
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
  readonly state?: 'RollingOut' | 'Verified';
  readonly telemetry?: 'Received' | 'NothingYet';
  /** RFC 3339. */
  readonly telemetrySince?: string;
}

/** `unverified`: a workload is about to show if the injector works. `failing`: workloads or the injector failed, or a policy refuses it. */
export interface InjectorReport {
  readonly health: 'unverified' | 'failing';
  readonly why: string;
}

export interface LumigoStatus {
  readonly conditions?: readonly Condition[];
  readonly instrumentedResources?: readonly InstrumentedResource[];
  readonly instrumentedResourcesCount?: number;
  readonly secretVersion?: string;
  readonly injector?: InjectorReport;
  readonly observedGeneration?: number;
}
