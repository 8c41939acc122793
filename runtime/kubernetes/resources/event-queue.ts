import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { backoffMs } from '../../async/retrying.ts';
import { aborted } from '../../async/aborted.ts';
import { askedWaitMs, isRefusal } from '../http/errors.ts';
import type { EventDetails } from './events.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { describeError } from '../../wording/errors.ts';

/** The uid, reason and key make its name, so the API server stores it once. */
export type QueuedEvent = Omit<EventDetails, 'now' | 'version' | 'instance'>;

interface EventQueueOptions {
  readonly metrics: Pick<Metrics, 'events' | 'eventsDropped'>;
  readonly logger: Logger;
  /** Called when `pending` becomes 0: the events are posted or dropped, or the first one failed. */
  readonly onDrained: (namespace: string) => void;
}

/** Resolves also if the event exists, or if its namespace is being deleted. */
type Post = (event: QueuedEvent) => Promise<unknown>;

type NamespaceQueue = { readonly events: Map<string, [QueuedEvent, ...QueuedEvent[]]>; failures: number };

const MAX_CONCURRENT = 8;
/** About 500 bytes each: more than one change of a whole cluster. An editor can forge any number for one object. */
const MAX_PENDING_EVENTS = 20_000;
const MAX_OF_OBJECT = 10;
/** Refusals in a row after which a namespace's events are dropped. */
const MAX_REFUSALS = 6;
/** The longest time by which waiting events delay the end of a term. */
const FLUSH_MS = 2_000;
const POLL_MS = 50;

/** Posts events in order for each object. Objects take turns, and each namespace retries alone. Waiting events outlive a term. */
export class EventQueue {
  private readonly queues = new Map<string, NamespaceQueue>();
  private readonly waiting: (() => void)[] = [];
  private size = 0;
  private running = 0;
  /** Undefined between two terms. */
  private post: Post | undefined;

  constructor(private readonly options: EventQueueOptions) {}

  add(event: QueuedEvent): void {
    const { namespace, uid } = event.regarding;
    const known = this.queues.get(namespace);
    const queue: NamespaceQueue = known ?? { events: new Map(), failures: 0 };
    const ofObject = queue.events.get(uid);
    if (this.size >= MAX_PENDING_EVENTS || ofObject?.length === MAX_OF_OBJECT)
      return this.options.metrics.eventsDropped.inc({ reason: event.reason });
    if (ofObject === undefined) queue.events.set(uid, [event]);
    else ofObject.push(event);
    this.size += 1;
    if (known !== undefined) return;
    this.queues.set(namespace, queue);
    void this.drain(namespace, queue);
  }

  /** Counts objects with waiting events; 0 if the namespace fails, because then no change waits for it. */
  pending(namespace: string): number {
    const queue = this.queues.get(namespace);
    return queue === undefined || queue.failures > 0 ? 0 : queue.events.size;
  }

  /** Another change would delete the trace of the one that is not reported yet. */
  isPending(namespace: string, uid: string): boolean {
    return this.pending(namespace) > 0 && this.queues.get(namespace)?.events.has(uid) === true;
  }

  /** Posts until the signal is aborted, then for at most 2 s. */
  async run(signal: AbortSignal, post: Post): Promise<void> {
    this.post = post;
    for (const wake of this.waiting.splice(0)) wake();
    await aborted(signal);
    const deadline = performance.now() + FLUSH_MS;
    const isAnyPending = () => [...this.queues.keys()].some((namespace) => this.pending(namespace) > 0);
    while (isAnyPending() && performance.now() < deadline) await sleep(POLL_MS);
    this.post = undefined;
  }

  private async drain(namespace: string, queue: NamespaceQueue): Promise<void> {
    for (let refusals = 0; queue.events.size > 0;) {
      const { post } = this;
      if (post === undefined || this.running >= MAX_CONCURRENT)
        await new Promise<void>((wake) => this.waiting.push(wake));
      else {
        // After a failure, one event shows if the namespace accepts events again.
        const objects = [...queue.events.values()].slice(0, queue.failures > 0 ? 1 : MAX_CONCURRENT - this.running);
        const errors = await Promise.all(objects.map((events) => this.send(queue, events, post)));
        const error = errors.find((each) => each !== undefined);
        refusals = isRefusal(error) ? refusals + 1 : 0;
        if (error !== undefined) await this.failed(namespace, queue, error, refusals >= MAX_REFUSALS);
      }
    }
    this.queues.delete(namespace);
    this.options.onDrained(namespace);
  }

  /** Returns the error, unless the term is over: then the next term posts the event. */
  private async send(queue: NamespaceQueue, events: [QueuedEvent, ...QueuedEvent[]], post: Post): Promise<unknown> {
    const [event] = events;
    this.running += 1;
    try {
      await post(event);
      this.options.metrics.events.inc({ reason: event.reason });
      this.size -= 1;
      queue.failures = 0;
      events.shift();
      queue.events.delete(event.regarding.uid);
      if (events.length > 0) queue.events.set(event.regarding.uid, events);
      return undefined;
    } catch (error) {
      return this.post === post ? error : undefined;
    } finally {
      this.running -= 1;
      this.waiting.shift()?.();
    }
  }

  private async failed(namespace: string, queue: NamespaceQueue, error: unknown, isFinal: boolean): Promise<void> {
    const { logger, metrics, onDrained } = this.options;
    queue.failures += 1;
    if (queue.failures === 1) {
      logger.warn({ namespace, problem: describeError(error) }, 'cannot send an event, retrying');
      onDrained(namespace);
    }
    if (!isFinal) return sleep(backoffMs(queue.failures, { atLeastMs: askedWaitMs(error) }), undefined, { ref: false });
    const dropped = [...queue.events.values()].flat();
    logger.warn({ namespace, events: dropped.length }, 'dropped events that the API server rejects');
    for (const { reason } of dropped) metrics.eventsDropped.inc({ reason });
    this.size -= dropped.length;
    queue.events.clear();
  }
}
