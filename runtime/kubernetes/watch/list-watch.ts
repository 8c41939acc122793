import { backoffMs, pause } from '../../async/retrying.ts';
import type { Debounce } from '../../async/debounce.ts';
import { describeError } from '../../wording/errors.ts';
import { ApiError, askedWaitMs, isNotFound } from '../http/errors.ts';
import type { Logger } from 'pino';
import { listPages } from '../http/pages.ts';
import { isOlder } from '../resources/objects.ts';
import { type ResourceRef, resourcePath } from '../http/paths.ts';
import { SilenceError, watchOnce, type WatchOptions } from './watch-once.ts';
import { type ListWatchHandler, WatchPosition } from './watch-position.ts';

/** `ended`: the server's time limit. `expired`: the server forgot the version. `refused`: any other error. */
export type RestartCause = 'ended' | 'disconnected' | 'silent' | 'expired' | 'refused';

export interface ListWatchOptions extends WatchOptions {
  readonly resource: ResourceRef;
  readonly handler: ListWatchHandler;
  readonly logger?: Logger | undefined;
  /** Set for a kind whose definition may be absent. Touched whenever the definition changes. */
  readonly definition?: Debounce | undefined;
  readonly onRestart?: ((cause: RestartCause, error?: unknown) => void) | undefined;
  /** Called with false when the watch broke, and with true when it continues, a list is complete, or nothing can exist. */
  readonly onCurrent?: ((isCurrent: boolean) => void) | undefined;
}

export interface ListWatch {
  /** Resolves when the first list is complete or the signal is aborted. Never rejects. */
  readonly synced: Promise<void>;
  /** Resolves after the last call of the handler. Never rejects. */
  readonly stopped: Promise<void>;
}

/** Keeps a store up to date until the signal is aborted. Between streams it keeps only the resourceVersion. */
export function listWatch(options: ListWatchOptions): ListWatch {
  const watcher = new Watcher(options);
  return { synced: watcher.synced, stopped: watcher.run() };
}

/** A required kind appears soon, because its installer waits for this program. Others depend on what is current. */
const soon = { maxMs: 2_000 };
/** An optional kind may stay absent for good. Its definition is watched, and the kind is served a moment later. */
const untilThere = { firstMs: 60_000, maxMs: 10 * 60_000 };
const SERVED_MS = 10_000;

class Watcher {
  readonly synced: Promise<void>;
  private readonly subject: string;
  private readonly position: WatchPosition;
  /** Set if the server streams lists (`sendInitialEvents`, since Kubernetes 1.32 or 1.34), as far as is known. */
  private streamsLists = true;
  private failures = 0;
  private heardAt = -Infinity;
  private handlerFails = false;

  constructor(private readonly options: ListWatchOptions) {
    const { resource, handler, signal, onCurrent } = options;
    this.subject = resourcePath(resource);
    let onSynced = (): void => undefined;
    this.synced = new Promise((resolve) => {
      onSynced = () => {
        onCurrent?.(true);
        resolve();
      };
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    const onHandlerError = (error: unknown): void => this.handlerFailed(error);
    this.position = new WatchPosition({ handler, subject: this.subject, onHandlerError, onSynced });
  }

  async run(): Promise<void> {
    const { signal, onHeard } = this.options;
    onHeard?.();
    while (!signal.aborted) {
      const started = performance.now();
      const error: unknown = await this.listAndWatch().catch((reason: unknown) => reason);
      if (signal.aborted) return;
      await this.recover(error, performance.now() - started);
      this.position.abandonList();
    }
  }

  private async listAndWatch(): Promise<void> {
    const position = this.position;
    if (this.failures > 0 && (await this.isRestored())) position.forget();
    if (position.version === undefined) position.beginList();
    if (position.listing && !this.streamsLists) await this.listInPages();
    await watchOnce({ ...this.options, subject: this.subject, position, onOpen: () => this.opened() });
  }

  private async listInPages(): Promise<void> {
    const { transport, resource } = this.options;
    const options = { ...this.options, pool: 'standing', onExpired: 'fail' } as const;
    let version = '';
    for await (const page of listPages(transport, resource, options)) {
      for (const object of page.items) this.position.show(object);
      version = page.resourceVersion;
    }
    this.position.completeList(version);
  }

  private async recover(error: unknown, livedMs: number): Promise<void> {
    const { onRestart } = this.options;
    if (this.position.listing && this.streamsLists && saysListsAreNotStreamed(error)) {
      this.streamsLists = false;
      return;
    }
    const cause = restartCause(error);
    onRestart?.(cause, error);
    if (this.isUndefined(error)) this.nothingThere();
    if (cause === 'expired') this.position.forget();
    this.failures = countFailures(this.failures, { failed: error !== undefined, livedMs });
    if (this.failures === 0) return;
    const retryInMs = this.retryInMs(error);
    if (!this.isUndefined(error))
      this.report(cause, { resource: this.subject, cause, problem: describeError(error), retryInMs });
    await this.rest(error, retryInMs);
  }

  private isUndefined = (error: unknown): boolean => this.options.definition !== undefined && isNotFound(error);

  private async rest(error: unknown, retryInMs: number): Promise<void> {
    const { signal, definition, handler, onCurrent } = this.options;
    // A kind without a definition has no objects, so an empty store is current. One that is not empty missed deletions.
    onCurrent?.(isNotFound(error) && [...handler.known()].length === 0);
    if (definition === undefined || !isNotFound(error)) return pause(retryInMs, signal);
    if (await definition.wait(retryInMs, signal)) this.heardAt = performance.now();
  }

  /** An API server restored from a backup would accept our later version, and send nothing until it has caught up. */
  private async isRestored(): Promise<boolean> {
    const { transport, resource, signal, fieldSelector } = this.options;
    const { version } = this.position;
    if (version === undefined) return false;
    // A role may grant only the object that this selector names. By a label, etcd would read the whole kind for one object.
    const options = { limit: 1, metadataOnly: true, pool: 'standing', signal, fieldSelector } as const;
    const { value } = await listPages(transport, resource, options).next();
    return value !== undefined && isOlder(value.resourceVersion, version);
  }

  private retryInMs(error: unknown): number {
    const isAway = this.isUndefined(error) && performance.now() > this.heardAt + SERVED_MS;
    const isSoon = isNotFound(error) || this.options.onCurrent !== undefined;
    const pace = isAway ? untilThere : isSoon ? soon : {};
    return backoffMs(this.failures, { ...pace, atLeastMs: askedWaitMs(error) });
  }

  private nothingThere(): void {
    this.position.beginList();
    this.position.completeList('');
    this.position.forget();
  }

  /** Warns once for each series of failures. An expired version or an ended stream is normal. */
  private report(cause: RestartCause, fields: object): void {
    const isNews = this.failures === 1 && cause !== 'expired' && cause !== 'ended';
    this.options.logger?.[isNews ? 'warn' : 'debug'](fields, 'watch interrupted');
  }

  private opened(): void {
    if (!this.position.listing) this.options.onCurrent?.(true);
    if (this.failures > 0) this.options.logger?.info({ resource: this.subject }, 'watch resumed');
  }

  /** Logs once: a handler that fails for one object may fail for ten thousand. */
  private handlerFailed(error: unknown): void {
    if (this.handlerFails) return;
    this.handlerFails = true;
    const fields = { resource: this.subject, problem: describeError(error) };
    this.options.logger?.error(fields, 'cannot handle a watch event, logging only the first failure of this resource');
  }
}

function restartCause(error: unknown): RestartCause {
  if (error === undefined) return 'ended';
  if (error instanceof SilenceError) return 'silent';
  if (!(error instanceof ApiError)) return 'disconnected';
  // The second is from an API server whose etcd was restored from a backup: our version is in its future.
  return error.status === 410 || error.hasCause('ResourceVersionTooLarge') ? 'expired' : 'refused';
}

/** A server with this feature disabled refuses it. An older server never sends the end of the list. */
const saysListsAreNotStreamed = (error: unknown): boolean =>
  error instanceof SilenceError || (error instanceof ApiError && (error.status === 400 || error.status === 422));

/** A stream that the server ended is no failure. A long stream starts a new series. */
function countFailures(before: number, { failed, livedMs }: { failed: boolean; livedMs: number }): number {
  if (!failed && livedMs >= 1_000) return 0;
  return (livedMs >= 10_000 ? 0 : before) + 1;
}
