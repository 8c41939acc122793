import type * as api from '@kubernetes/client-node';

/** JSON of the API server: read-only, with times as text. Fields of later Kubernetes versions pass through unchanged. */
export type Frozen<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? readonly Frozen<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: Frozen<T[K]> } & { readonly [field: string]: unknown }
      : T;

/** The same with every field optional, for objects that are only read. */
export type DeepPartial<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? readonly DeepPartial<Item>[]
    : T extends object
      ? { readonly [K in keyof T]?: DeepPartial<T[K]> }
      : T;

export type Container = Frozen<api.V1Container>;
export type EnvVar = NonNullable<Container['env']>[number];
export type VolumeMount = NonNullable<Container['volumeMounts']>[number];
export type Resources = NonNullable<Container['resources']>;
export type PodSpec = Frozen<api.V1PodSpec>;
export type Volume = NonNullable<PodSpec['volumes']>[number];
export type Metadata = Frozen<api.V1ObjectMeta>;
export type PodTemplate = Frozen<api.V1PodTemplateSpec> & { readonly spec: PodSpec };

export interface Workload {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly [field: string]: unknown;
}

export type PatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };
