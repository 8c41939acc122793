/** Limits in bytes (docs/contributing/adr/0028-budget-at-the-door.md), because tenants choose how large objects are. */
export const bounds = {
  /** Shorter lines and answers do not count. */
  freeBytes: 64 * 1024,
  /** Longer lines are skipped. The largest review that is parsed has the same limit. */
  lineBytes: 1024 * 1024,
  /** An object in etcd has at most 1.5 MB, and usually up to three times that as JSON. With many `<` it has six times that. */
  answerBytes: 4 * 1024 * 1024,
  /** The part of a list before its items: a version and a token with the name of the last object. */
  headBytes: 8 * 1024,
  /** After a larger page, the next one has fewer objects. */
  pageBytes: 1024 * 1024,
  inFlightBytes: 8 * 1024 * 1024,
} as const;

/** Bytes that readers share. Each waits, in order of arrival, until there is room. */
export class ByteBudget {
  private readonly waiting: { readonly bytes: number; readonly enter: () => void }[] = [];

  constructor(private free: number) {}

  /** Resolves with the function that returns the bytes. Call it once. */
  take(bytes: number): Promise<() => void> {
    return new Promise((resolve) => {
      this.waiting.push({ bytes, enter: () => resolve(this.grant(bytes)) });
      this.admit();
    });
  }

  takeNow(bytes: number): (() => void) | undefined {
    return this.waiting.length > 0 || bytes > this.free ? undefined : this.grant(bytes);
  }

  private grant(bytes: number): () => void {
    this.free -= bytes;
    return () => {
      this.free += bytes;
      this.admit();
    };
  }

  private admit(): void {
    const [next] = this.waiting;
    if (next === undefined || next.bytes > this.free) return;
    this.waiting.shift();
    next.enter();
    this.admit();
  }
}

export function nextPageSize(size: number, bytes: number, most: number): number {
  if (bytes > bounds.pageBytes) return Math.max(1, Math.floor(size / 2));
  return bytes < bounds.pageBytes / 4 ? Math.min(most, size * 2) : size;
}
