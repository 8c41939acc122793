import type { Metadata } from '../injection/types.ts';

/** What the API server always sets. */
export interface ObjectMeta extends Metadata {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** An object as the API server sent it: raw JSON, fields that this program does not know included. Items of a list may lack kind and apiVersion. */
export interface KubernetesObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** An object to send; the server adds the rest. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly [field: string]: unknown;
}

/** An object that was read and changed, to send back whole, fields unknown to this program included. */
export interface ChangedObject {
  readonly metadata: Metadata;
  readonly [field: string]: unknown;
}
