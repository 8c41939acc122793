import type { IncomingMessage } from 'node:http';

/** Bytes, for a heap of about 150 MB. The API server sends up to 3 MB of a user, twice on an update. */
export const limits = {
  /** Smaller bodies have no limit but the number of connections, so they never wait for large ones. */
  small: 64 * 1024,
  /** Parsing this size takes some milliseconds. Only the head of a larger body is read. */
  largest: 1024 * 1024,
  /** Two objects of 3 MB, and the review around them. */
  read: 7 * 1024 * 1024,
  inFlight: 8 * 1024 * 1024,
  /** The API server writes uid, kind, name (at most 253 bytes), namespace and operation first. */
  head: 2048,
} as const;

export interface Refusal {
  readonly status: 400 | 404 | 413 | 429;
  readonly message: string;
}

/** `bytes` are only the head if the body is larger than `limits.largest`. */
export type Body = { readonly bytes: Buffer; readonly length: number } | Refusal;

const busy = {
  status: 429,
  message: 'too many large reviews at the same time; the operator checks the object later',
} as const;
const endless = { status: 413, message: `the review has more than ${limits.read} bytes` } as const;

/**
 * Bounds commas, brackets and braces, because 7 MB of `[{},{},…]` take 163 MB of heap. Two objects of the largest size
 * (injection/size.ts) have fewer than half as many.
 */
const MAX_STRUCTURE = 100_000;

const structural = new Uint8Array(256);
for (const character of ',[{') structural[character.charCodeAt(0)] = 1;

export function tooCostly(bytes: Buffer, length: number): string | undefined {
  if (length > limits.largest) return `${length} bytes, of which ${limits.largest} are read`;
  if (length <= limits.small) return undefined;
  let structure = 0;
  // An iterator takes five times as long, half of the cost of a large review.
  for (let index = length - 1; index >= 0; index -= 1) structure += structural[bytes[index] ?? 0] ?? 0;
  return structure > MAX_STRUCTURE ? `${length} bytes of many small values` : undefined;
}

export class BodyReader {
  private readonly room = { free: limits.inFlight as number };

  /** Counts the body until `use` has ended. */
  async read(request: IncomingMessage, use: (body: Body) => Promise<void>): Promise<void> {
    const held = new HeldBytes(this.room);
    try {
      await use(await collect(request, held));
    } finally {
      held.release();
    }
  }
}

/** Uses events, because an iterator costs a tenth more for a small body. */
function collect(request: IncomingMessage, held: HeldBytes): Promise<Body> {
  return new Promise((resolve) => {
    const take = (chunk: Buffer): void => {
      const refusal = held.add(chunk);
      if (refusal === undefined) return;
      request.off('data', take).pause();
      resolve(refusal);
    };
    request
      .on('data', take)
      .once('end', () => resolve(held.whole()))
      .once('error', ({ message }) => resolve({ status: 400, message: `the review is not complete: ${message}` }));
  });
}

/** One body in one buffer, because thousands of chunks of a byte would take a hundred times their length. */
class HeldBytes {
  private bytes = Buffer.alloc(0);
  private length = 0;

  constructor(private readonly room: { free: number }) {}

  add(chunk: Buffer): Refusal | undefined {
    const before = this.length;
    this.length += chunk.length;
    if (this.length > limits.read) return endless;
    if (before > limits.largest) return undefined;
    if (this.length > limits.largest) this.keep(Buffer.concat([this.bytes.subarray(0, before), chunk], limits.head));
    else if (this.grow()) chunk.copy(this.bytes, before);
    else return busy;
    return undefined;
  }

  private grow(): boolean {
    if (this.length <= this.bytes.length) return true;
    const size = Math.min(limits.largest, Math.max(this.length, 2 * this.bytes.length));
    if (counted(size) - counted(this.bytes.length) > this.room.free) return false;
    this.keep(Buffer.concat([this.bytes], size));
    return true;
  }

  whole(): Body {
    return { bytes: this.bytes.subarray(0, this.length), length: this.length };
  }

  release(): void {
    this.keep(Buffer.alloc(0));
  }

  private keep(bytes: Buffer<ArrayBuffer>): void {
    this.room.free += counted(this.bytes.length) - counted(bytes.length);
    this.bytes = bytes;
  }
}

const counted = (length: number): number => (length <= limits.small ? 0 : length);
