import type { KubernetesObject } from './objects.ts';
import { type Identity, Relist } from './relist.ts';
import { readWatchEvent } from './watch-event.ts';

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

export interface WatchPositionOptions {
  readonly handler: ListWatchHandler;
  /** What is watched, for an error's message. */
  readonly subject: string;
  readonly onHandlerError: (error: unknown) => void;
  readonly onSynced: () => void;
}

/** How far the handler has been told: all that a list-watch keeps between two streams. */
export class WatchPosition {
  readonly #options: WatchPositionOptions;
  #version: string | undefined;
  #relist: Relist | undefined;

  constructor(options: WatchPositionOptions) {
    this.#options = options;
  }

  /** The version to watch from; undefined when a list has to come first. */
  get version(): string | undefined {
    return this.#version;
  }

  /** A list has begun and is not complete. */
  get listing(): boolean {
    return this.#relist !== undefined;
  }

  /** The server does not remember the version any more: only a list tells what happened since. */
  forget(): void {
    this.#version = undefined;
  }

  beginList(): void {
    this.#relist = new Relist(this.#options.handler.known());
  }

  abandonList(): void {
    this.#relist = undefined;
  }

  completeList(version: string): void {
    const missing = this.#relist?.missing() ?? [];
    this.#relist = undefined;
    for (const identity of missing) this.#delete(identity);
    this.#version = version;
    this.#tell(({ synced }) => synced?.());
    this.#options.onSynced();
  }

  /** An object that a list or an event shows. */
  show(object: KubernetesObject): void {
    const replaced = this.#relist?.see(object.metadata);
    if (replaced !== undefined) this.#delete(replaced);
    const isListed = this.listing;
    this.#tell((handler) => handler.upsert(object, isListed));
  }

  /** One line of a watch. Throws the ApiError that it carries. */
  receive(line: unknown): void {
    const event = readWatchEvent(line, this.#options.subject);
    switch (event.kind) {
      case 'error':
        throw event.error;
      case 'upsert':
        this.show(event.object);
        return this.#advance(event.object.metadata.resourceVersion);
      case 'delete':
        this.#relist?.see(event.object.metadata);
        this.#delete(event.object.metadata);
        return this.#advance(event.object.metadata.resourceVersion);
      case 'bookmark':
        if (this.#relist !== undefined && event.complete) this.completeList(event.resourceVersion);
        return this.#advance(event.resourceVersion);
    }
  }

  /** Objects of a list come in the order of their names: before it is complete their versions say nothing about how far it got. */
  #advance(version: string): void {
    if (this.#relist === undefined) this.#version = version;
  }

  #delete({ namespace = '', name, uid }: { namespace?: string; name: string; uid: string }): void {
    this.#tell((handler) => handler.delete({ namespace, name, uid }));
  }

  #tell(call: (handler: ListWatchHandler) => void): void {
    try {
      call(this.#options.handler);
    } catch (error) {
      this.#options.onHandlerError(error);
    }
  }
}
