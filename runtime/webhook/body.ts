import type { IncomingMessage } from 'node:http';

/**
 * What a request may cost, in bytes. The API server sends what a user writes, up to 3 MB and twice on an update, and any pod
 * may send anything: a heap of some 150 MB has to hold it.
 */
export const limits = {
  /** Up to here a body counts by its connection, of which there are so many (server.ts): ordinary reviews never wait for large ones. */
  small: 64 * 1024,
  /** The largest that is parsed, which takes some milliseconds. What is larger is read for its head alone. */
  largest: 1024 * 1024,
  /** The largest that is read at all: two objects of 3 MB, and what surrounds them. */
  read: 7 * 1024 * 1024,
  /** For all bodies that are not small, together. */
  inFlight: 8 * 1024 * 1024,
  /** The API server writes first the uid, the kind, the name (253 bytes at most), the namespace and the operation. */
  head: 2048,
} as const;

export type Body =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  /** Larger than what is parsed. */
  | { readonly kind: 'large'; readonly head: string; readonly length: number }
  /** There is no room for it now, or ever; the rest was not read. */
  | { readonly kind: 'refused'; readonly status: 413 | 429; readonly message: string };

const busy: Body = {
  kind: 'refused',
  status: 429,
  message: 'too many large reviews at the same time; the operator checks the object later',
};
const endless: Body = { kind: 'refused', status: 413, message: `the review has more than ${limits.read} bytes` };

/** Reads bodies, of which all together hold so many bytes. */
export class BodyReader {
  private readonly room: { free: number };

  constructor(inFlight: number = limits.inFlight) {
    this.room = { free: inFlight };
  }

  /** Reads a body and has it used; until then its bytes count. Rejects where the sender breaks off. */
  async read<T>(request: IncomingMessage, use: (body: Body) => Promise<T> | T): Promise<T> {
    const held = new HeldBytes(this.room);
    try {
      return await use(await collect(request, held));
    } finally {
      held.release();
    }
  }
}

/** By its events: an iterator costs a small body a tenth more. */
function collect(request: IncomingMessage, held: HeldBytes): Promise<Body> {
  return new Promise((resolve, reject) => {
    const take = (chunk: Buffer): void => {
      const refused = held.add(chunk);
      if (refused === undefined) return;
      // What is not read does not end the connection here: there is an answer to be sent.
      request.off('data', take).pause();
      resolve(refused);
    };
    request
      .on('data', take)
      .once('end', () => resolve(held.whole()))
      .once('error', reject);
  });
}

/** One body, in one piece as it comes: thousands of chunks of a byte would take a hundred times their length. */
class HeldBytes {
  private bytes = Buffer.alloc(0);
  private length = 0;
  private held = 0;

  constructor(private readonly room: { free: number }) {}

  add(chunk: Buffer): Body | undefined {
    const before = this.length;
    this.length += chunk.length;
    if (this.length > limits.read) return endless;
    if (before > limits.largest) return undefined;
    const isLarge = this.length > limits.largest;
    // Of a large one the head is enough, and the room is others'.
    if (!this.grow(isLarge ? limits.head : this.length)) return busy;
    chunk.copy(this.bytes, before);
    if (!isLarge) return undefined;
    this.bytes = Buffer.from(this.bytes.subarray(0, limits.head));
    this.release();
    return undefined;
  }

  private grow(length: number): boolean {
    if (length <= this.bytes.length) return true;
    const size = Math.min(limits.largest, Math.max(length, 2 * this.bytes.length));
    const more = size <= limits.small ? 0 : size - this.held;
    if (more > this.room.free) return false;
    this.room.free -= more;
    this.held += more;
    this.bytes = Buffer.concat([this.bytes], size);
    return true;
  }

  whole(): Body {
    const [bytes, length] = [this.bytes, this.length];
    if (length > limits.largest) return { kind: 'large', head: bytes.toString('latin1'), length };
    return { kind: 'whole', bytes: bytes.subarray(0, length) };
  }

  release(): void {
    this.room.free += this.held;
    this.held = 0;
  }
}
