export class Debounce {
  private firstAt: number | undefined;
  private timer: NodeJS.Timeout | undefined;
  private done: (() => void) | undefined;

  constructor(private readonly pause: { readonly quietMs: number; readonly atMostMs: number }) {}

  readonly touch = (): void => {
    this.firstAt ??= performance.now();
    this.arm();
  };

  /** Resolves after `quietMs` or `idleMs`, or on abort. The result is whether there was a change. */
  wait(idleMs: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const idle = setTimeout(() => {
        if (this.firstAt === undefined) finish();
      }, idleMs);
      const finish = (): void => {
        clearTimeout(idle);
        clearTimeout(this.timer);
        signal.removeEventListener('abort', finish);
        const changed = this.firstAt !== undefined;
        this.firstAt = undefined;
        this.done = undefined;
        resolve(changed);
      };
      this.done = finish;
      signal.addEventListener('abort', finish, { once: true });
      if (signal.aborted) finish();
      else this.arm();
    });
  }

  private arm(): void {
    if (this.done === undefined || this.firstAt === undefined) return;
    clearTimeout(this.timer);
    const left = this.firstAt + this.pause.atMostMs - performance.now();
    this.timer = setTimeout(this.done, Math.max(0, Math.min(this.pause.quietMs, left)));
  }
}
