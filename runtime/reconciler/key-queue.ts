import { backoffMs } from './backoff.ts';

export interface KeyQueueOptions {
  /** Brings one key to where it should be; says when to look again, if at all. A rejection is tried again after a backoff. */
  readonly work: (key: string) => Promise<{ requeueAfterMs?: number } | undefined>;
  readonly onError: (key: string, error: unknown, retryInMs: number) => void;
  readonly workers: number;
  readonly signal: AbortSignal;
  readonly random?: () => number;
}

/**
 * A queue of keys, not of events: a key that is added several times is worked on once, never twice at the same time, and
 * once more when it was added while it was worked on. Nothing is lost and no burst piles up.
 */
export class KeyQueue {
  readonly #options: KeyQueueOptions;
  readonly #waiting = new Set<string>();
  readonly #running = new Set<string>();
  readonly #timers = new Map<string, { timer: NodeJS.Timeout; at: number }>();
  readonly #failures = new Map<string, number>();

  constructor(options: KeyQueueOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', () => {
      this.#timers.forEach(({ timer }) => clearTimeout(timer));
      this.#waiting.clear();
    });
  }

  /** Asks for a key to be worked on as soon as a worker is free. */
  add(key: string): void {
    if (this.#options.signal.aborted) return;
    const timed = this.#timers.get(key);
    if (timed !== undefined) clearTimeout(timed.timer);
    this.#timers.delete(key);
    this.#waiting.add(key);
    this.#start();
  }

  /** Asks for a key to be worked on in a while; an earlier appointment stands. */
  addAfter(key: string, delayMs: number): void {
    if (this.#options.signal.aborted || this.#waiting.has(key)) return;
    const at = Date.now() + delayMs;
    const timed = this.#timers.get(key);
    if (timed !== undefined && timed.at <= at) return;
    if (timed !== undefined) clearTimeout(timed.timer);
    this.#timers.set(key, { at, timer: setTimeout(() => this.add(key), delayMs) });
  }

  get depth(): number {
    return this.#waiting.size + this.#running.size;
  }

  #start(): void {
    for (const key of this.#waiting) {
      if (this.#running.size >= this.#options.workers) return;
      if (this.#running.has(key)) continue;
      this.#waiting.delete(key);
      this.#running.add(key);
      void this.#run(key);
    }
  }

  async #run(key: string): Promise<void> {
    try {
      const result = await this.#options.work(key);
      this.#failures.delete(key);
      if (result?.requeueAfterMs !== undefined) this.addAfter(key, result.requeueAfterMs);
    } catch (error) {
      if (this.#options.signal.aborted) return;
      const failures = (this.#failures.get(key) ?? 0) + 1;
      this.#failures.set(key, failures);
      const retryInMs = backoffMs(failures, (this.#options.random ?? Math.random)());
      this.#options.onError(key, error, retryInMs);
      this.addAfter(key, retryInMs);
    } finally {
      this.#running.delete(key);
      this.#start();
    }
  }
}
