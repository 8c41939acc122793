import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Large reviews are worked off one after the other, each followed by a rest as long as it took. The webhook has one thread:
 * whoever sends many has it half the time at most, and no ordinary review waits for more than one of them.
 */
export class Turns {
  private last: Promise<unknown> = Promise.resolve();

  take<T>(work: () => T): Promise<T> {
    let tookMs = 0;
    const result = this.last.then(() => {
      const started = performance.now();
      try {
        return work();
      } finally {
        tookMs = performance.now() - started;
      }
    });
    const rest = () => sleep(tookMs);
    this.last = result.then(rest, rest);
    return result;
  }
}
