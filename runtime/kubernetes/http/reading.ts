import type { IncomingMessage } from 'node:http';
import { bounds, ByteBudget } from './byte-budget.ts';
import { AnswerTooLargeError } from './errors.ts';

/** The process has one heap for all its connections. */
const inFlight = new ByteBudget(bounds.inFlightBytes);

export interface Body {
  /** Parsed JSON, or text if the answer is not JSON; undefined if it is empty. */
  readonly body: unknown;
  readonly bytes: number;
}

/** Reads an answer in one piece. A large one waits for its share of the budget, which it keeps until it is parsed. */
export async function readBody(
  { message, bytes }: { readonly message: IncomingMessage; bytes(): AsyncIterable<Buffer> },
  { path, maxBytes = bounds.answerBytes }: { readonly path: string; readonly maxBytes?: number | undefined },
): Promise<Body> {
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
    const isJson = message.headers['content-type']?.includes('json') === true;
    const text = toText(pieces);
    return { body: text === '' ? undefined : isJson ? JSON.parse(text) : text, bytes: length };
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
  let pieces: Buffer[] = [];
  let length = 0;
  let giveBack: (() => void) | undefined;
  const release = (): void => {
    giveBack?.();
    giveBack = undefined;
  };
  const add = (piece: Buffer): void => {
    length += piece.length;
    if (length > bounds.lineBytes) {
      pieces = [];
      release();
    } else if (piece.length > 0) pieces.push(piece);
  };
  function* end(): Generator<string> {
    if (length > bounds.lineBytes) onSkipped(length);
    else if (length > 0) yield toText(pieces);
    pieces = [];
    length = 0;
    release();
  }
  try {
    for await (const chunk of chunks) {
      let from = 0;
      for (let newline = chunk.indexOf(NEWLINE); newline >= 0; newline = chunk.indexOf(NEWLINE, from)) {
        add(chunk.subarray(from, newline));
        yield* end();
        from = newline + 1;
      }
      add(chunk.subarray(from));
      // Until the budget has room, nothing more of a long line is read.
      if (length > bounds.freeBytes && length <= bounds.lineBytes) giveBack ??= await inFlight.take(bounds.lineBytes);
    }
  } finally {
    release();
  }
}

const toText = (pieces: readonly Buffer[]): string =>
  (pieces.length === 1 ? pieces[0] : Buffer.concat(pieces))?.toString() ?? '';
