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

/** RFC 6902. */
export type PatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };
