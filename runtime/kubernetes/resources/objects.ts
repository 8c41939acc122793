import type { Metadata } from '../../api/objects.ts';

export interface ObjectMeta extends Metadata {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Sent back whole, with the fields that this program does not know. */
export interface ChangedObject {
  readonly metadata: Metadata;
  readonly [field: string]: unknown;
}

export interface KubernetesObject extends ChangedObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

export interface Manifest extends ChangedObject {
  readonly apiVersion: string;
  readonly kind: string;
}

export const toData = (object: KubernetesObject): Readonly<Record<string, string>> =>
  (object as { readonly data?: Readonly<Record<string, string>> }).data ?? {};

/** A tenth of the bytes, and no pod template in memory. */
export const metadataType = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

/** Compares resourceVersions, which are numbers (by contract since Kubernetes 1.35). Anything else counts as newer. */
export function isOlder(seen: string | undefined, known: string): boolean {
  const a = Number(seen);
  const b = Number(known);
  return Number.isFinite(a) && Number.isFinite(b) && a < b;
}
