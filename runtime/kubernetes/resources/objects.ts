import type { Metadata } from '../../api/objects.ts';

/** What the API server always sets. */
export interface ObjectMeta extends Metadata {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** An object that was read and changed, to send back whole, fields unknown to this program included. */
export interface ChangedObject {
  readonly metadata: Metadata;
  readonly [field: string]: unknown;
}

/** An object as the API server sent it: raw JSON, fields that this program does not know included. */
export interface KubernetesObject extends ChangedObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

/** An object to send; the server adds the rest. */
export interface Manifest extends ChangedObject {
  readonly apiVersion: string;
  readonly kind: string;
}

/** What a ConfigMap or a Secret holds, the latter in base64. */
export const dataOf = (object: KubernetesObject): Readonly<Record<string, string>> =>
  (object as { readonly data?: Readonly<Record<string, string>> }).data ?? {};

/** Only the metadata of objects: a tenth of the bytes, and nothing of a pod template in memory. */
export const metadataType = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

/**
 * Whether one resourceVersion is older than another. They are numbers on every API server (and since Kubernetes 1.35
 * comparable by contract); what is none counts as newer.
 */
export function isOlder(seen: string | undefined, known: string): boolean {
  const [a, b] = [Number(seen), Number(known)];
  return Number.isFinite(a) && Number.isFinite(b) && a < b;
}
