/**
 * Bounds in bytes for everything that is read from the API server (docs/contributing/adr/0030-budget-at-the-door.md). A tenant decides how
 * large its objects are, and the manager's heap has about 150 MB.
 */
export const bounds = {
  /** A shorter line or answer takes nothing from the budget. */
  freeBytes: 64 * 1024,
  /** The longest line of a stream that is parsed; a longer one is skipped. As large as the largest review that is parsed. */
  lineBytes: 1024 * 1024,
  /** The largest answer that is read. An object in etcd has at most 1.5 MB, and up to about three times that as JSON. */
  answerBytes: 4 * 1024 * 1024,
  /** A page that is larger has fewer objects the next time. */
  pageBytes: 1024 * 1024,
  /** The bytes of all lines and answers that are being read and parsed. */
  inFlightBytes: 8 * 1024 * 1024,
} as const;

/** Bytes that several readers share. Each takes what it may need, waits in order of arrival until there is room, and gives it back. */
export class ByteBudget {
  private readonly waiting: { readonly bytes: number; readonly enter: () => void }[] = [];

  constructor(private free: number) {}

  /** Resolves with the function that gives the bytes back, to be called once. */
  take(bytes: number): Promise<() => void> {
    return new Promise((resolve) => {
      const enter = () => {
        this.free -= bytes;
        resolve(() => this.giveBack(bytes));
      };
      this.waiting.push({ bytes, enter });
      this.admit();
    });
  }

  /** The same without waiting: undefined if there is no room now. */
  takeNow(bytes: number): (() => void) | undefined {
    if (this.waiting.length > 0 || bytes > this.free) return undefined;
    this.free -= bytes;
    return () => this.giveBack(bytes);
  }

  private giveBack(bytes: number): void {
    this.free += bytes;
    this.admit();
  }

  private admit(): void {
    for (let [next] = this.waiting; next !== undefined && next.bytes <= this.free; [next] = this.waiting) {
      this.waiting.shift();
      next.enter();
    }
  }
}

/** The next number of objects on a page: half after a large one, twice as many after a small one, and between 1 and `most`. */
export function nextPageSize(size: number, bytes: number, most: number): number {
  if (bytes > bounds.pageBytes) return Math.max(1, Math.floor(size / 2));
  return bytes < bounds.pageBytes / 4 ? Math.min(most, size * 2) : size;
}
