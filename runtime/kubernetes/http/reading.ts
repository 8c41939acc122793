import type { IncomingMessage } from 'node:http';
import { bounds, ByteBudget } from './byte-budget.ts';
import { AnswerTooLargeError } from './errors.ts';

/** The process has one heap for all its connections. */
const inFlight = new ByteBudget(bounds.inFlightBytes);

/** An answer that is read in one piece. A large one waits for its share of the budget, and so does its sender. */
export class Whole {
  length = 0;
  private readonly pieces: Buffer[] = [];
  private share: Promise<() => void> | undefined;

  constructor(
    private readonly message: IncomingMessage,
    private readonly maxBytes: number,
    private readonly path: string,
  ) {}

  /** Uses events, because an iterator costs a small answer a tenth more. */
  read(): Promise<readonly Buffer[]> {
    return new Promise((resolve, reject) => {
      this.message
        .on('data', (piece: Buffer) => this.add(piece))
        .once('end', () => resolve(this.pieces))
        .once('error', reject);
    });
  }

  release(): void {
    void this.share?.then((giveBack) => giveBack());
    this.share = undefined;
  }

  private add(piece: Buffer): void {
    this.length += piece.length;
    if (this.length > this.maxBytes) {
      const head = Buffer.concat(this.pieces, bounds.headBytes).toString();
      this.message.destroy(new AnswerTooLargeError(this.path, this.maxBytes, head));
      return;
    }
    this.pieces.push(piece);
    if (this.length <= bounds.freeBytes || this.share !== undefined) return;
    this.message.pause();
    this.share = inFlight.take(this.maxBytes);
    void this.share.then(() => this.message.resume());
  }
}

const NEWLINE = 0x0a;

/** `onSkipped` gets the length of a line above `bounds.lineBytes`. Each line becomes a string once, to save garbage. */
export async function* toLines(
  chunks: AsyncIterable<Buffer>,
  onSkipped: (bytes: number) => void,
): AsyncGenerator<string, void, undefined> {
  const line = new Line(onSkipped);
  try {
    for await (const chunk of chunks) {
      yield* line.endsIn(chunk);
      await line.takeShare();
    }
  } finally {
    line.release();
  }
}

class Line {
  private length = 0;
  private pieces: Buffer[] = [];
  private giveBack: (() => void) | undefined;

  constructor(private readonly onSkipped: (bytes: number) => void) {}

  *endsIn(chunk: Buffer): Generator<string> {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      this.add(chunk.subarray(from, end));
      const text = this.end();
      if (text !== '') yield text;
      this.release();
      from = end + 1;
    }
    this.add(chunk.subarray(from));
  }

  private add(piece: Buffer): void {
    this.length += piece.length;
    if (this.length > bounds.lineBytes) {
      this.pieces = [];
      this.release();
    } else if (piece.length > 0) this.pieces.push(piece);
  }

  /** Until the budget has room, nothing more of a long line is read. */
  async takeShare(): Promise<void> {
    if (this.length <= bounds.freeBytes || this.length > bounds.lineBytes) return;
    this.giveBack ??= await inFlight.take(bounds.lineBytes);
  }

  private end(): string {
    if (this.length > bounds.lineBytes) this.onSkipped(this.length);
    const text = toText(this.pieces);
    [this.pieces, this.length] = [[], 0];
    return text;
  }

  release(): void {
    this.giveBack?.();
    this.giveBack = undefined;
  }
}

export const toText = (pieces: readonly Buffer[]): string =>
  (pieces.length === 1 ? pieces[0] : Buffer.concat(pieces))?.toString() ?? '';
