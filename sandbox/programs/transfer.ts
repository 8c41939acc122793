import { createHash, type Hash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { describeError } from '../../runtime/wording/errors.ts';
import type { Checksum } from './archives.ts';
import { alive, type Progress } from './progress.ts';

/** What went wrong with a transfer, as the end of a sentence, and whether another attempt may help at once. */
export class TransferError extends Error {
  constructor(
    message: string,
    readonly again: boolean,
  ) {
    super(message);
  }
}

export interface Transfer {
  readonly url: string;
  /** What is in it already is not fetched again. */
  readonly file: string;
  readonly algorithm: Checksum['algorithm'];
  readonly progress: Progress;
  /** Gives up after this time without a byte. */
  readonly stallMs: number;
  /** Gives up when this is aborted. */
  readonly end: AbortSignal;
}

/**
 * Fetches what a file lacks, once, and returns the digest of the whole, taken while it comes.
 * @throws TransferError; what has come until then stays.
 */
export async function transfer({ stallMs, end, ...what }: Transfer): Promise<string> {
  const stall = new AbortController();
  const timer = setTimeout(() => stall.abort(), stallMs);
  try {
    return await fetchRest(what, AbortSignal.any([stall.signal, end]), () => timer.refresh());
  } catch (error) {
    if (error instanceof TransferError) throw error;
    const kept = `${megabytes(sizeOf(what.file))} MB (kept for the next attempt)`;
    if (stall.signal.aborted) throw new TransferError(`sent nothing for ${stallMs / 1_000} s after ${kept}`, false);
    if (end.aborted) throw new TransferError(`is too slow: received ${kept}`, false);
    throw new TransferError(`was cut off after ${kept} (${describeError(error)})`, true);
  } finally {
    clearTimeout(timer);
  }
}

type What = Omit<Transfer, 'stallMs' | 'end'>;

async function fetchRest({ url, file, algorithm, progress }: What, signal: AbortSignal, arrived: () => void) {
  const size = sizeOf(file);
  const range: Record<string, string> = size > 0 ? { range: `bytes=${size}-` } : {};
  // Without compression on the way, which would be undone on arrival and leave another file.
  const response = await fetch(url, { headers: { 'accept-encoding': 'identity', ...range }, signal });
  // There is nothing after what is there.
  if (response.status === 416 && size > 0) return digestOf(file, algorithm);
  const { status, statusText, body } = response;
  if (!response.ok || body === null)
    throw new TransferError(`answers ${status} ${statusText}`.trimEnd(), status >= 500);
  const before = status === 206 ? size : 0;
  const total = before + Number(response.headers.get('content-length') ?? 0);
  progress(`${basename(url)}: fetching ${megabytes(total)} MB from ${new URL(url).host}, once per machine`);
  const hash = createHash(algorithm);
  if (before > 0) await feed(hash, file);
  const said = () => `${basename(url)}: ${megabytes(sizeOf(file))} of ${megabytes(total)} MB`;
  await alive(progress, said, () => receive(body, file, before > 0, (chunk) => (hash.update(chunk), arrived())));
  return hash.digest('hex');
}

async function receive(
  body: AsyncIterable<Uint8Array>,
  file: string,
  append: boolean,
  seen: (chunk: Uint8Array) => void,
): Promise<void> {
  const handle = await open(file, append ? 'a' : 'w');
  try {
    for await (const chunk of body) {
      seen(chunk);
      await handle.writeFile(chunk);
    }
  } finally {
    await handle.close();
  }
}

export const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

const megabytes = (bytes: number): string => (bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0);

async function feed(hash: Hash, file: string): Promise<void> {
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
}

export async function digestOf(file: string, algorithm: Checksum['algorithm']): Promise<string> {
  const hash = createHash(algorithm);
  await feed(hash, file);
  return hash.digest('hex');
}
