export class Topic<T extends readonly unknown[] = []> {
  private readonly listeners = new Set<(...values: T) => void>();

  readonly emit = (...values: T): void => {
    for (const listener of this.listeners) listener(...values);
  };

  on(listener: (...values: T) => void, signal: AbortSignal): void {
    this.listeners.add(listener);
    signal.addEventListener('abort', () => this.listeners.delete(listener), { once: true });
  }
}
