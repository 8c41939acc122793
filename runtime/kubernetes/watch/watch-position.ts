import { ApiError } from '../http/errors.ts';
import type { KubernetesObject } from '../resources/objects.ts';

export interface Identity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** The caller's store is the only copy. A method that throws is reported, and ends nothing. */
export interface ListWatchHandler {
  /** May repeat a version. `isListed`: the object is from a list, so all else that is known about it is void. */
  upsert(object: KubernetesObject, isListed: boolean): void;
  /** May repeat a deletion, also after an object of that name was created again. */
  delete(identity: Identity): void;
  /** Returns the store's objects, to find the deletions that were missed while there was no connection. */
  known(): Iterable<Identity>;
}

interface WatchPositionOptions {
  readonly handler: ListWatchHandler;
  readonly subject: string;
  readonly onHandlerError: (error: unknown) => void;
  readonly onSynced: () => void;
}

const eventTypes: ReadonlySet<unknown> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']);
/** Annotation of the bookmark that follows all existing objects (`sendInitialEvents`). */
const initialEventsEnd = 'k8s.io/initial-events-end';

export class WatchPosition {
  version: string | undefined;
  /** By uid, while a list runs: the store's own records that are not listed yet. The rest at its end was deleted. */
  private unseen: Map<string, Identity> | undefined;

  constructor(private readonly options: WatchPositionOptions) {}

  get listing(): boolean {
    return this.unseen !== undefined;
  }

  /** The server no longer remembers the version, so only a list shows what happened since. */
  forget(): void {
    this.version = undefined;
  }

  beginList(): void {
    this.unseen = new Map();
    for (const identity of this.options.handler.known()) this.unseen.set(identity.uid, identity);
  }

  abandonList(): void {
    this.unseen = undefined;
  }

  completeList(version: string): void {
    const missing = this.unseen?.values() ?? [];
    this.unseen = undefined;
    for (const identity of missing) this.delete(identity);
    this.version = version;
    this.options.onSynced();
  }

  show(object: KubernetesObject): void {
    this.unseen?.delete(object.metadata.uid);
    const isListed = this.listing;
    this.tell((handler) => handler.upsert(object, isListed));
  }

  /** Takes one line of a watch. Throws the ApiError that it carries. */
  receive(line: unknown): void {
    const { type, object } = eventIn(line, this.options.subject);
    const { resourceVersion, annotations } = object.metadata;
    if (type === 'ADDED' || type === 'MODIFIED') this.show(object);
    else if (type === 'DELETED') this.delete(object.metadata);
    else if (this.listing && annotations?.[initialEventsEnd] === 'true') this.completeList(resourceVersion);
    // A list is sorted by name, so before its end a version does not say how far it is.
    if (!this.listing) this.version = resourceVersion;
  }

  private delete({ namespace = '', name, uid }: { namespace?: string; name: string; uid: string }): void {
    this.tell((handler) => handler.delete({ namespace, name, uid }));
  }

  private tell(call: (handler: ListWatchHandler) => void): void {
    try {
      call(this.options.handler);
    } catch (error) {
      this.options.onHandlerError(error);
    }
  }
}

/** Throws on a line that the API does not define, because skipping it could miss a change. */
function eventIn(line: unknown, subject: string): { readonly type: unknown; readonly object: KubernetesObject } {
  const { type, object } = (line ?? {}) as { type?: unknown; object?: KubernetesObject };
  if (object?.metadata !== undefined && eventTypes.has(type)) return { type, object };
  throw new ApiError(object, { status: 500, subject: `The watch of ${subject}` });
}
