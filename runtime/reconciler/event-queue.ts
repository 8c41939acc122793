import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { describeError } from '../wording/errors.ts';
import { aborted } from '../async/aborted.ts';
import { isRefusal } from '../kubernetes/http/errors.ts';
import type { EventDetails } from '../kubernetes/resources/events.ts';
import { backoffMs } from '../kubernetes/http/plan-retry.ts';
import type { Metrics } from '../observability/metrics.ts';

/** What is to be told of one object. With its uid, the key makes it the same event when it is queued again. */
export type QueuedEvent = Omit<EventDetails, 'now' | 'version' | 'instance'>;

/** Posts an event in the name of the term that lasts; one that is there already, or whose namespace goes, counts as posted. */
type Post = (event: QueuedEvent) => Promise<unknown>;

interface EventQueueOptions {
  readonly metrics: Pick<Metrics, 'events' | 'eventsDropped'>;
  readonly logger: Logger;
  /** Nothing more of a namespace waits. */
  readonly onDrained: (namespace: string) => void;
}

interface NamespaceQueue {
  readonly events: Set<QueuedEvent>;
  readonly busy: Set<string>;
  failures: number;
  pausedUntil: number;
}

/** Events are no work: beside it they take few of the connections, and all that it leaves. */
const [AT_ONCE, ALONE] = [4, 16];
/** Some 500 bytes each; more than any change of a cluster at once, and a bound for one that refuses events for ever. */
const MOST = 20_000;
/** A namespace that refuses events so often in a row is told nothing more of what waited. */
const ATTEMPTS = 6;
const REMEMBERED = 5_000;
const backoff = { firstMs: 500, maxMs: 30_000 };
/** For so long the end of a term is held up by events, where the API server takes them. */
const LAST_MS = 2_000;
const POLL_MS = 50;

/**
 * Posts events beside the work: in order for each object, a few at once in all. A namespace that refuses them waits by
 * itself. What is queued when a term ends stays queued for the next one: an event posted twice is one event.
 */
export class EventQueue {
  private readonly queues = new Map<string, NamespaceQueue>();
  /** What this process has posted lately: a Lease that is lost and won again costs no event twice. */
  private readonly posted = new Set<string>();
  /** How many events wait, by the uid of their object. */
  private readonly waiting = new Map<string, number>();
  private size = 0;
  private running = 0;
  /** Undefined between two terms. */
  private post: Post | undefined;
  private underWay: () => number = () => 0;

  constructor(private readonly options: EventQueueOptions) {}

  add(event: QueuedEvent): void {
    if (this.posted.has(nameOf(event))) return;
    if (this.size >= MOST) return this.options.metrics.eventsDropped.inc({ reason: event.reason });
    const { namespace, uid } = event.regarding;
    const queue = this.queues.get(namespace) ?? { events: new Set(), busy: new Set(), failures: 0, pausedUntil: 0 };
    queue.events.add(event);
    this.waiting.set(uid, (this.waiting.get(uid) ?? 0) + 1);
    this.size += 1;
    this.queues.set(namespace, queue);
    this.startMore();
  }

  /** How many events of a namespace wait to be posted; 0 for one that refuses them, since nobody can wait for that. */
  pending(namespace: string): number {
    const queue = this.queues.get(namespace);
    return queue === undefined || queue.failures > 0 ? 0 : queue.events.size;
  }

  /** Whether an object's last change is still to be told; whoever changes it again would take the trace of that change away. */
  isPending(namespace: string, uid: string): boolean {
    return this.pending(namespace) > 0 && this.waiting.has(uid);
  }

  /** Posts until the signal is aborted, and then for a moment more what is queued already. `underWay`: how many changes are being made. */
  async run(signal: AbortSignal, post: Post, underWay: () => number): Promise<void> {
    this.post = post;
    this.underWay = underWay;
    this.startMore();
    await aborted(signal);
    const deadline = performance.now() + LAST_MS;
    const isAnyTaken = () => [...this.queues.keys()].some((namespace) => this.pending(namespace) > 0);
    while (isAnyTaken() && performance.now() < deadline) await sleep(POLL_MS);
    this.post = undefined;
  }

  private startMore(): void {
    while (this.running < Math.max(AT_ONCE, ALONE - this.underWay()) && this.post !== undefined) {
      const next = this.next();
      if (next === undefined) return;
      this.running += 1;
      void this.send(...next, this.post).finally(() => {
        this.running -= 1;
        this.startMore();
      });
    }
  }

  /** The oldest of the first namespace that has one to be posted now. */
  private next(): [NamespaceQueue, QueuedEvent] | undefined {
    for (const [namespace, queue] of this.queues) {
      // One that fails is tried with one event at a time.
      if (queue.pausedUntil > performance.now() || (queue.failures > 0 && queue.busy.size > 0)) continue;
      for (const event of queue.events)
        if (!queue.busy.has(event.regarding.uid)) {
          // Taken from the front and put to the back: no namespace waits for all of another.
          this.queues.delete(namespace);
          this.queues.set(namespace, queue);
          return [queue, event];
        }
    }
    return undefined;
  }

  private async send(queue: NamespaceQueue, event: QueuedEvent, post: Post): Promise<void> {
    queue.busy.add(event.regarding.uid);
    try {
      await post(event);
      queue.failures = 0;
      this.remember(nameOf(event));
      this.remove(queue, event);
      this.options.metrics.events.inc({ reason: event.reason });
    } catch (error) {
      // What fails because its term is over is left to the next one.
      if (this.post === post) this.failed(queue, event, error);
    } finally {
      queue.busy.delete(event.regarding.uid);
    }
  }

  /** What was under way together fails together, and counts once. */
  private failed(queue: NamespaceQueue, { regarding: { namespace }, reason }: QueuedEvent, error: unknown): void {
    if (queue.pausedUntil > performance.now()) return;
    const { logger, metrics } = this.options;
    queue.failures += 1;
    if (queue.failures === 1)
      logger.warn({ namespace, reason, problem: describeError(error) }, 'cannot send an event, retrying');
    if (isRefusal(error) && queue.failures >= ATTEMPTS) {
      logger.warn({ namespace, events: queue.events.size }, 'dropped events that the API server rejects');
      for (const given of queue.events) {
        metrics.eventsDropped.inc({ reason: given.reason });
        this.remove(queue, given);
      }
      return;
    }
    const waitMs = backoffMs(queue.failures, backoff, Math.random());
    queue.pausedUntil = performance.now() + waitMs;
    this.resume(queue);
  }

  /** Goes on when its pause is over. Timers fire up to a millisecond early, and nobody else might come by. */
  private resume(queue: NamespaceQueue): void {
    const leftMs = queue.pausedUntil - performance.now();
    if (leftMs > 0) setTimeout(() => this.resume(queue), Math.ceil(leftMs)).unref();
    else this.startMore();
  }

  private remember(name: string): void {
    this.posted.add(name);
    if (this.posted.size <= REMEMBERED) return;
    const [oldest = ''] = this.posted;
    this.posted.delete(oldest);
  }

  private remove(queue: NamespaceQueue, event: QueuedEvent): void {
    if (!queue.events.delete(event)) return;
    const { namespace, uid } = event.regarding;
    const left = (this.waiting.get(uid) ?? 1) - 1;
    if (left === 0) this.waiting.delete(uid);
    else this.waiting.set(uid, left);
    this.size -= 1;
    if (queue.events.size > 0) return;
    if (this.queues.get(namespace) === queue) this.queues.delete(namespace);
    this.options.onDrained(namespace);
  }
}

const nameOf = ({ regarding: { uid }, key }: QueuedEvent): string => `${uid}/${key}`;
