import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { describeError } from '../errors.ts';
import { aborted } from '../async/aborted.ts';
import type { EventApi } from './api.ts';
import { isRefusal } from '../kubernetes/errors.ts';
import { backoffMs } from '../kubernetes/plan-backoff.ts';

export interface QueuedEvent {
  readonly namespace: string;
  /** The object that it is about: its events are posted in order. */
  readonly uid: string;
  readonly reason: string;
  /** With the uid: what makes it the same event when it is queued again. */
  readonly key: string;
  /** Posts it in the name of the term that lasts; one that is there already, or whose namespace goes, counts as posted. */
  readonly post: (api: EventApi) => Promise<unknown>;
}

export interface EventQueueOptions {
  readonly logger: Logger;
  readonly onPosted: (reason: string) => void;
  /** Nothing more of a namespace waits. */
  readonly onDrained: (namespace: string) => void;
  readonly onDropped: (reason: string) => void;
}

interface Term {
  readonly signal: AbortSignal;
  readonly api: EventApi;
}

interface Lane {
  readonly events: Set<QueuedEvent>;
  readonly busy: Set<string>;
  failures: number;
  pausedUntil: number;
}

/** Events are no work: they must not take the connections from it. */
const AT_ONCE = 4;
/** Some 500 bytes each; more than any change of a cluster at once, and a bound for one that refuses events for ever. */
const MOST = 20_000;
/** A namespace that refuses events so often in a row is told nothing more of what waited. */
const ATTEMPTS = 6;
const REMEMBERED = 5_000;
const backoff = { firstMs: 500, maxMs: 30_000 };
/** For so long the end of a term is held up by events, where the API server takes them. */
const LAST_MS = 2_000;
const LOOK_MS = 50;

/**
 * Posts events beside the work: in order for each object, a few at once in all. A namespace that refuses them waits by
 * itself. What is queued when a term ends stays queued for the next one: an event posted twice is one event.
 */
export class EventQueue {
  readonly #options: EventQueueOptions;
  readonly #lanes = new Map<string, Lane>();
  /** What this process has posted lately: a Lease that is lost and won again costs no event twice. */
  readonly #posted = new Set<string>();
  /** How many events wait, by the uid of their object. */
  readonly #waiting = new Map<string, number>();
  #size = 0;
  #running = 0;
  #term: Term | undefined;

  constructor(options: EventQueueOptions) {
    this.#options = options;
  }

  add(event: QueuedEvent): void {
    if (this.#posted.has(nameOf(event))) return;
    if (this.#size >= MOST) return this.#options.onDropped(event.reason);
    const lane = this.#lanes.get(event.namespace) ?? {
      events: new Set(),
      busy: new Set(),
      failures: 0,
      pausedUntil: 0,
    };
    lane.events.add(event);
    this.#waiting.set(event.uid, (this.#waiting.get(event.uid) ?? 0) + 1);
    this.#size += 1;
    this.#lanes.set(event.namespace, lane);
    this.#startMore();
  }

  /** How many events of a namespace wait to be posted; 0 for one that refuses them, since nobody can wait for that. */
  pending(namespace: string): number {
    const lane = this.#lanes.get(namespace);
    return lane === undefined || lane.failures > 0 ? 0 : lane.events.size;
  }

  /** Whether an object's last change is still to be told; whoever changes it again would take the trace of that change away. */
  isPending(namespace: string, uid: string): boolean {
    return this.pending(namespace) > 0 && this.#waiting.has(uid);
  }

  /** Posts until the signal is aborted, and then for a moment more what is queued already. */
  async run(signal: AbortSignal, api: EventApi): Promise<void> {
    const end = new AbortController();
    this.#term = { signal: end.signal, api };
    this.#startMore();
    await aborted(signal);
    const deadline = performance.now() + LAST_MS;
    while (this.#size > 0 && performance.now() < deadline) await sleep(LOOK_MS);
    end.abort();
  }

  #startMore(): void {
    while (this.#running < AT_ONCE && this.#term?.signal.aborted === false) {
      const next = this.#next();
      if (next === undefined) return;
      this.#running += 1;
      void this.#post(...next, this.#term).finally(() => {
        this.#running -= 1;
        this.#startMore();
      });
    }
  }

  /** The oldest of the first namespace that has one to be posted now. */
  #next(): [Lane, QueuedEvent] | undefined {
    for (const [namespace, lane] of this.#lanes) {
      // One that fails is tried with one event at a time.
      if (lane.pausedUntil > performance.now() || (lane.failures > 0 && lane.busy.size > 0)) continue;
      for (const event of lane.events)
        if (!lane.busy.has(event.uid)) {
          // Taken from the front and put to the back: no namespace waits for all of another.
          this.#lanes.delete(namespace);
          this.#lanes.set(namespace, lane);
          return [lane, event];
        }
    }
    return undefined;
  }

  async #post(lane: Lane, event: QueuedEvent, { api, signal }: Term): Promise<void> {
    lane.busy.add(event.uid);
    try {
      await event.post(api);
      lane.failures = 0;
      this.#remember(nameOf(event));
      this.#remove(lane, event);
      this.#options.onPosted(event.reason);
    } catch (error) {
      if (!signal.aborted) this.#failed(lane, event, error);
    } finally {
      lane.busy.delete(event.uid);
    }
  }

  /** What was under way together fails together, and counts once. */
  #failed(lane: Lane, { namespace, reason }: QueuedEvent, error: unknown): void {
    if (lane.pausedUntil > performance.now()) return;
    const { logger } = this.#options;
    lane.failures += 1;
    if (lane.failures === 1) logger.warn({ namespace, reason, problem: describeError(error) }, 'event not posted');
    if (isRefusal(error) && lane.failures >= ATTEMPTS) return this.#giveUp(lane, namespace);
    const waitMs = backoffMs(lane.failures, backoff, Math.random());
    lane.pausedUntil = performance.now() + waitMs;
    void sleep(waitMs + 1, undefined, { ref: false }).then(() => this.#startMore());
  }

  #giveUp(lane: Lane, namespace: string): void {
    const { logger, onDropped } = this.#options;
    logger.warn({ namespace, events: lane.events.size }, 'events given up, because their namespace refuses them');
    for (const event of lane.events) {
      onDropped(event.reason);
      this.#remove(lane, event);
    }
  }

  #remember(name: string): void {
    this.#posted.add(name);
    if (this.#posted.size <= REMEMBERED) return;
    const [oldest = ''] = this.#posted;
    this.#posted.delete(oldest);
  }

  #remove(lane: Lane, event: QueuedEvent): void {
    if (!lane.events.delete(event)) return;
    const left = (this.#waiting.get(event.uid) ?? 1) - 1;
    if (left === 0) this.#waiting.delete(event.uid);
    else this.#waiting.set(event.uid, left);
    this.#size -= 1;
    if (lane.events.size > 0) return;
    if (this.#lanes.get(event.namespace) === lane) this.#lanes.delete(event.namespace);
    this.#options.onDrained(event.namespace);
  }
}

const nameOf = ({ uid, key }: QueuedEvent): string => `${uid}/${key}`;
