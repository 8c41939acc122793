import { type ApiError, apiErrorOf } from './errors.ts';
import type { KubernetesObject } from './objects.ts';

/** One line of a watch. */
export type WatchEvent =
  | { readonly kind: 'upsert' | 'delete'; readonly object: KubernetesObject }
  /** Nothing happened up to this version; `complete`: and everything there was has been sent (sendInitialEvents). */
  | { readonly kind: 'bookmark'; readonly resourceVersion: string; readonly complete: boolean }
  | { readonly kind: 'error'; readonly error: ApiError };

const initialEventsEnd = 'k8s.io/initial-events-end';

/** Reads a line as the API server defines it; what it does not define is an error, since skipping it could miss a change. */
export function readWatchEvent(line: unknown, subject: string): WatchEvent {
  const { type, object } = (line ?? {}) as { type?: unknown; object?: KubernetesObject };
  if (object?.metadata !== undefined)
    switch (type) {
      case 'ADDED':
      case 'MODIFIED':
        return { kind: 'upsert', object };
      case 'DELETED':
        return { kind: 'delete', object };
      case 'BOOKMARK': {
        const { resourceVersion, annotations } = object.metadata;
        return { kind: 'bookmark', resourceVersion, complete: annotations?.[initialEventsEnd] === 'true' };
      }
    }
  return { kind: 'error', error: apiErrorOf(object, { status: 500, subject: `The watch of ${subject}` }) };
}
