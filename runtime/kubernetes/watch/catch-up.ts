import { setTimeout as sleep } from 'node:timers/promises';

/** Minimum time between a failure and the next try, also if callers hurry. */
const QUIET_PERIOD_MS = 250;

/** A disconnected store may have objects that were deleted, or that a restored backup does not have. */
export class CatchUp {
  private isUpToDate = false;
  private hurry: () => void = () => undefined;
  private readonly waiting = new Set<() => void>();

  get isCurrent(): boolean {
    return this.isUpToDate;
  }

  record(isCurrent: boolean): void {
    this.isUpToDate = isCurrent;
    for (const goOn of this.waiting) goOn();
  }

  async rest(ms: number, signal: AbortSignal): Promise<void> {
    const cut = new AbortController();
    const calmUntil = performance.now() + QUIET_PERIOD_MS;
    this.hurry = () => void setTimeout(() => cut.abort(), Math.max(0, calmUntil - performance.now()));
    await sleep(ms, undefined, { signal: AbortSignal.any([signal, cut.signal]) }).catch(() => undefined);
  }

  /** Resolves at once if current, else after a try that began from now on, or after `mostMs`. Then read `isCurrent`. */
  async catchUp(mostMs: number): Promise<void> {
    const deadline = performance.now() + mostMs;
    // The first try that ends may have begun before this call.
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
