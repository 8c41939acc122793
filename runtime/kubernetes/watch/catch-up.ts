import { unlessAborted } from '../../async/aborted.ts';
import { pause } from '../../async/retrying.ts';
import { Topic } from '../../async/topic.ts';

/** Minimum time between a failure and the next try, also if callers hurry. */
const QUIET_PERIOD_MS = 250;

/** A disconnected store may have objects that were deleted, or that a restored backup does not have. */
export class CatchUp {
  isCurrent = false;
  private hurry: () => void = () => undefined;
  private readonly tried = new Topic();

  record(isCurrent: boolean): void {
    this.isCurrent = isCurrent;
    this.tried.emit();
  }

  async rest(ms: number, signal: AbortSignal): Promise<void> {
    const cut = new AbortController();
    const calmUntil = performance.now() + QUIET_PERIOD_MS;
    this.hurry = () => setTimeout(() => cut.abort(), Math.max(0, calmUntil - performance.now()));
    await pause(ms, AbortSignal.any([signal, cut.signal]));
  }

  /** Resolves at once if current, else after a try that began from now on, or after `mostMs`. Then read `isCurrent`. */
  async catchUp(mostMs: number): Promise<void> {
    // Each review asks, so this costs no timer.
    if (this.isCurrent) return;
    const deadline = AbortSignal.timeout(mostMs);
    // The first try that ends may have begun before this call.
    for (let tries = 0; tries < 2 && !this.isCurrent && !deadline.aborted; tries += 1) {
      this.hurry();
      await unlessAborted(new Promise((resolve) => this.tried.on(resolve, deadline)), deadline);
    }
  }
}
