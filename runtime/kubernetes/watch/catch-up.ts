import { setTimeout as sleep } from 'node:timers/promises';

/** So long after a failure nothing is tried again, however much somebody would like to know. */
const CALM_MS = 250;

/**
 * Whether a list-watch has told all that there is. One that lost its connection may hold what was undone meanwhile: deleted, or gone
 * with a store that was restored from a backup. Whoever must not act on that asks here, and may have it try again at once.
 */
export class CatchUp {
  #isCurrent = false;
  #restingSince: number | undefined;
  #hurry: AbortController | undefined;
  readonly #waiting = new Set<() => void>();

  get isCurrent(): boolean {
    return this.#isCurrent;
  }

  /** A stream stands, or could not be had. */
  note(isCurrent: boolean): void {
    this.#isCurrent = isCurrent;
    for (const goOn of this.#waiting) goOn();
  }

  /** The pause before the next try, which somebody may cut short. */
  async rest(ms: number, signal: AbortSignal): Promise<void> {
    this.#restingSince = performance.now();
    this.#hurry = new AbortController();
    await sleep(ms, undefined, { signal: AbortSignal.any([signal, this.#hurry.signal]) }).catch(() => undefined);
    this.#restingSince = undefined;
  }

  /**
   * Resolves at once where nothing is out of date, or a try has just failed; else with the outcome of the next one, which is made now,
   * and after `mostMs` at the latest. Ask `isCurrent` what came of it.
   */
  async catchUp(mostMs: number): Promise<void> {
    if (this.#isCurrent) return;
    if (this.#restingSince !== undefined) {
      if (performance.now() - this.#restingSince < CALM_MS) return;
      this.#hurry?.abort();
    }
    await new Promise<void>((resolve) => {
      const goOn = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(goOn);
        resolve();
      };
      const timer = setTimeout(goOn, mostMs);
      this.#waiting.add(goOn);
    });
  }
}
