import { setTimeout as sleep } from 'node:timers/promises';

/** So long after a failure nothing is tried again, however much somebody would like to know. */
const CALM_MS = 250;

/**
 * Whether a list-watch has told all that there is. One that lost its connection may hold what was undone meanwhile: deleted, or gone
 * with a store that was restored from a backup. Whoever must not act on that asks here, and may have it try again at once.
 */
export class CatchUp {
  private isUpToDate = false;
  private hurry: () => void = () => undefined;
  private readonly waiting = new Set<() => void>();

  get isCurrent(): boolean {
    return this.isUpToDate;
  }

  /** A stream stands, or could not be had. */
  note(isCurrent: boolean): void {
    this.isUpToDate = isCurrent;
    for (const goOn of this.waiting) goOn();
  }

  /** The pause before the next try, which somebody may cut short. */
  async rest(ms: number, signal: AbortSignal): Promise<void> {
    const cut = new AbortController();
    const calmUntil = performance.now() + CALM_MS;
    this.hurry = () => void setTimeout(() => cut.abort(), Math.max(0, calmUntil - performance.now()));
    await sleep(ms, undefined, { signal: AbortSignal.any([signal, cut.signal]) }).catch(() => undefined);
  }

  /**
   * Resolves at once where nothing is out of date; else when a try that was begun from now on has ended, and after `mostMs` at the
   * latest. Ask `isCurrent` what came of it.
   */
  async catchUp(mostMs: number): Promise<void> {
    const deadline = performance.now() + mostMs;
    // The first that ends may have been under way already.
    for (let tries = 0; tries < 2 && !this.isUpToDate; tries += 1) {
      this.hurry();
      await this.outcome(deadline - performance.now());
    }
  }

  private outcome(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const goOn = (): void => {
        clearTimeout(timer);
        this.waiting.delete(goOn);
        resolve();
      };
      const timer = setTimeout(goOn, Math.max(0, withinMs));
      this.waiting.add(goOn);
    });
  }
}
