import { apiErrorOf } from '../http/errors.ts';
import type { KubernetesObject } from '../resources/objects.ts';

/** What identifies an object of one kind, in this life of it. */
export interface Identity {
  /** Empty for a cluster-scoped object. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** The caller's store, which is the only copy there is. A method that throws is reported and ends nothing. */
export interface ListWatchHandler {
  /** There, or changed. May be told of the same version again. `isListed`: a list shows it, and whatever is known of it beside is void. */
  upsert(object: KubernetesObject, isListed: boolean): void;
  /** Gone, in this life of it: an object of the same name with another uid may be told of next. */
  delete(identity: Identity): void;
  /** What the store holds of this kind, to find the deletions that were missed while there was no connection. */
  known(): Iterable<Identity>;
  /** Everything there is has been told; again after each list. */
  synced?(): void;
}

interface WatchPositionOptions {
  readonly handler: ListWatchHandler;
  /** What is watched, for an error's message. */
  readonly subject: string;
  readonly onHandlerError: (error: unknown) => void;
  readonly onSynced: () => void;
}

const eventTypes: ReadonlySet<unknown> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']);
/** On the bookmark that says: everything there was has been sent (sendInitialEvents). */
const initialEventsEnd = 'k8s.io/initial-events-end';

/** How far the handler has been told: all that a list-watch keeps between two streams. */
export class WatchPosition {
  private knownVersion: string | undefined;
  /**
   * While a list runs: what the handler held before and the list has not shown. What is left of it in the end are the deletions
   * that nobody told of. It points at the handler's own records, so there is no second copy of them.
   */
  private unseen: Map<string, Identity> | undefined;

  constructor(private readonly options: WatchPositionOptions) {}

  /** The version to watch from; undefined when a list has to come first. */
  get version(): string | undefined {
    return this.knownVersion;
  }

  /** A list has begun and is not complete. */
  get listing(): boolean {
    return this.unseen !== undefined;
  }

  /** The server does not remember the version any more: only a list tells what happened since. */
  forget(): void {
    this.knownVersion = undefined;
  }

  beginList(): void {
    this.unseen = new Map();
    for (const identity of this.options.handler.known()) this.unseen.set(keyOf(identity), identity);
  }

  abandonList(): void {
    this.unseen = undefined;
  }

  completeList(version: string): void {
    const missing = this.unseen?.values() ?? [];
    this.unseen = undefined;
    for (const identity of missing) this.delete(identity);
    this.knownVersion = version;
    this.tell(({ synced }) => synced?.());
    this.options.onSynced();
  }

  /** An object that a list or an event shows. */
  show(object: KubernetesObject): void {
    const before = this.see(object);
    // The same name, deleted and made again meanwhile.
    if (before !== undefined && before.uid !== object.metadata.uid) this.delete(before);
    const isListed = this.listing;
    this.tell((handler) => handler.upsert(object, isListed));
  }

  /** One line of a watch. Throws the ApiError that it carries. */
  receive(line: unknown): void {
    const { type, object } = eventIn(line, this.options.subject);
    const { resourceVersion, annotations } = object.metadata;
    if (type === 'ADDED' || type === 'MODIFIED') this.show(object);
    else if (type === 'DELETED') {
      this.see(object);
      this.delete(object.metadata);
    } else if (this.listing && annotations?.[initialEventsEnd] === 'true') this.completeList(resourceVersion);
    // Objects of a list come in the order of their names: before it is complete their versions say nothing about how far it got.
    if (!this.listing) this.knownVersion = resourceVersion;
  }

  /** Takes note that the object is there, or was until now. Returns what the handler held of that name. */
  private see({ metadata }: KubernetesObject): Identity | undefined {
    const key = keyOf(metadata);
    const before = this.unseen?.get(key);
    this.unseen?.delete(key);
    return before;
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

/** Reads a line as the API server defines it; what it does not define is an error, since skipping it could miss a change. */
function eventIn(line: unknown, subject: string): { readonly type: unknown; readonly object: KubernetesObject } {
  const { type, object } = (line ?? {}) as { type?: unknown; object?: KubernetesObject };
  if (object?.metadata !== undefined && eventTypes.has(type)) return { type, object };
  throw apiErrorOf(object, { status: 500, subject: `The watch of ${subject}` });
}

const keyOf = ({ namespace = '', name = '' }: Partial<Identity>): string => `${namespace}/${name}`;
