import type { V1ObjectReference } from '@kubernetes/client-node';
import { hash } from 'node:crypto';
import { events, type EventReason } from '../../api/events.ts';
import { fieldManager } from '../../contract.ts';
import { printable } from '../../wording/printable.ts';
import { withoutTokens } from '../../wording/token.ts';
import type { Client } from '../http/client.ts';
import { isAlreadyExists, isForbidden, isNotFound } from '../http/errors.ts';
import type { Manifest } from './objects.ts';
import { kinds } from './kinds.ts';

export type Regarding = Readonly<
  Required<Pick<V1ObjectReference, 'apiVersion' | 'kind' | 'namespace' | 'name' | 'uid' | 'resourceVersion'>>
>;

export interface EventDetails {
  readonly regarding: Regarding;
  readonly reason: EventReason;
  readonly message: string;
  /** Identifies the change on this object. An event with the same key is posted once. */
  readonly key: string;
  readonly now: Date;
  readonly version: string;
  readonly instance: string;
}

/** `kubectl describe` shows no more characters, and events.k8s.io refuses more. */
const maxMessageLength = 1024;

/** Returns a core/v1 Event. Its name depends on the change alone, so a second post finds the first. */
export function eventObject(details: EventDetails): Manifest {
  const { regarding, reason, now, version, instance } = details;
  // Mount paths, for example, may have any character.
  const message = printable(withoutTokens(details.message));
  const at = now.toISOString().replace(/\.\d+Z$/, 'Z');
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: eventName(details), namespace: regarding.namespace },
    involvedObject: regarding,
    reason,
    type: events[reason].type,
    message: message.length <= maxMessageLength ? message : `${message.slice(0, maxMessageLength - 1)}…`,
    source: { component: `${fieldManager}.v${version}` },
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
    reportingComponent: fieldManager,
    reportingInstance: instance,
  };
}

const maxNameLength = 253;

/** `<name>.<16 hexadecimal characters>`, as kubectl and the kubelet do. A long name is cut so that it stays valid. */
function eventName({ regarding: { uid, name }, reason, key }: EventDetails): string {
  const digest = hash('sha256', JSON.stringify([uid, reason, key])).slice(0, 16);
  const stem = name.slice(0, maxNameLength - 1 - digest.length).replace(/[-.]+$/, '');
  return `${stem}.${digest}`;
}

/** Posts an event once. An event that exists, or a namespace that is or will be deleted, is no error. */
export async function postEvent(client: Client, event: Manifest): Promise<void> {
  const ref = { ...kinds.events, namespace: event.metadata.namespace };
  await client.create(ref, event, { metadataOnly: true }).catch((error: unknown) => {
    const isGone = isNotFound(error) || (isForbidden(error) && error.hasCause('NamespaceTerminating'));
    if (!isGone && !isAlreadyExists(error)) throw error;
  });
}
