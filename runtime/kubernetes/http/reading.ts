import type { IncomingMessage } from 'node:http';
import { bounds, ByteBudget } from './byte-budget.ts';
import { AnswerTooLargeError } from './errors.ts';

/** The process has one heap for all its connections. */
const inFlight = new ByteBudget(bounds.inFlightBytes);

/** Reads an answer in one piece. A large one waits for its share of the budget, which it keeps until `use` returns. */
export async function readWhole<T>(
  { message, bytes }: { readonly message: IncomingMessage; bytes(): AsyncIterable<Buffer> },
  { path, maxBytes = bounds.answerBytes }: { readonly path: string; readonly maxBytes?: number | undefined },
  use: (text: string, bytes: number) => T,
): Promise<T> {
  const pieces: Buffer[] = [];
  let length = 0;
  let share: Promise<() => void> | undefined;
  try {
    for await (const piece of bytes()) {
      length += piece.length;
      if (length > maxBytes)
        throw new AnswerTooLargeError(path, maxBytes, Buffer.concat(pieces, bounds.headBytes).toString());
      pieces.push(piece);
      if (length <= bounds.freeBytes || share !== undefined) continue;
      share = inFlight.take(maxBytes);
      // A timeout or an abort ends the wait, too.
      await Promise.race([share, new Promise((resolve) => message.once('close', resolve))]);
    }
    return use(toText(pieces), length);
  } finally {
    void share?.then((giveBack) => giveBack());
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

const toText = (pieces: readonly Buffer[]): string =>
  (pieces.length === 1 ? pieces[0] : Buffer.concat(pieces))?.toString() ?? '';
