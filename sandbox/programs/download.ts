import { createHash } from 'node:crypto';
import { createReadStream, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '../../runtime/wording/errors.ts';
import type { Checksum } from './archives.ts';
import { alive, type Progress } from './progress.ts';

export interface Patience {
  /** The longest time without a byte. */
  readonly stallMs: number;
  /** The longest time for all bytes. After that, the program is built. */
  readonly totalMs: number;
  readonly retries: number;
  readonly pauseMs: number;
}

export const usualPatience: Patience = { stallMs: 15_000, totalMs: 300_000, retries: 3, pauseMs: 1_000 };

export interface Download {
  readonly url: string;
  readonly checksum: Checksum;
  /** Bytes of an earlier download are kept. A wrong file is deleted. */
  readonly file: string;
  readonly progress: Progress;
  readonly patience: Patience;
}

/** A failure as the end of a sentence. `again` is true if another attempt may help at once. */
class TransferError extends Error {
  constructor(
    message: string,
    readonly again: boolean,
  ) {
    super(message);
  }
}

/** Resolves when the whole file has the checksum. @throws Error with a sentence */
export async function download(what: Download): Promise<void> {
  const { url, progress, patience } = what;
  const end = AbortSignal.timeout(patience.totalMs);
  for (let left = patience.retries; ; left -= 1) {
    const failure = await attempt(what, end).then(() => undefined, transferError);
    if (failure === undefined) return;
    const sentence = `${url} ${failure.message}`;
    if (!failure.again || left === 0) throw new Error(sentence);
    progress(`${sentence}; trying again`);
    await sleep(patience.pauseMs);
  }
}

function transferError(error: unknown): TransferError {
  if (error instanceof TransferError) return error;
  throw error;
}

async function attempt(what: Download, end: AbortSignal): Promise<void> {
  const { file, checksum } = what;
  const before = getSize(file);
  await transfer(what, end);
  const complaint = await mismatch(file, checksum);
  if (complaint === undefined) return;
  rmSync(file, { force: true });
  // The bytes of the earlier download may be the wrong ones.
  throw new TransferError(`${complaint} and was deleted`, before > 0);
}

/** Downloads the missing bytes of a file, once. @throws TransferError. The bytes that have arrived stay */
async function transfer(what: Download, end: AbortSignal): Promise<void> {
  const { stallMs } = what.patience;
  const stall = new AbortController();
  const timer = setTimeout(() => stall.abort(), stallMs);
  try {
    await fetchRest(what, AbortSignal.any([stall.signal, end]), () => timer.refresh());
  } catch (error) {
    if (error instanceof TransferError) throw error;
    const kept = `${megabytes(getSize(what.file))} MB (kept for the next attempt)`;
    if (stall.signal.aborted) throw new TransferError(`sent nothing for ${stallMs / 1_000} s after ${kept}`, false);
    if (end.aborted) throw new TransferError(`is too slow: received ${kept}`, false);
    throw new TransferError(`was cut off after ${kept} (${describeError(error)})`, true);
  } finally {
    clearTimeout(timer);
  }
}

async function fetchRest({ url, file, progress }: Download, signal: AbortSignal, arrived: () => void): Promise<void> {
  const size = getSize(file);
  const range: Record<string, string> = size > 0 ? { range: `bytes=${size}-` } : {};
  // Compression would be undone on arrival, and would give another file.
  const response = await fetch(url, { headers: { 'accept-encoding': 'identity', ...range }, signal });
  if (response.status === 416 && size > 0) return;
  const { status, statusText, body } = response;
  if (!response.ok || body === null)
    throw new TransferError(`answers ${status} ${statusText}`.trimEnd(), status >= 500);
  const before = status === 206 ? size : 0;
  const total = before + Number(response.headers.get('content-length') ?? 0);
  progress(`${basename(url)}: fetching ${megabytes(total)} MB from ${new URL(url).host}, once per machine`);
  const said = () => `${basename(url)}: ${megabytes(getSize(file))} of ${megabytes(total)} MB`;
  await alive(progress, said, () => receive(body, file, before > 0 ? 'a' : 'w', arrived));
}

async function receive(body: AsyncIterable<Uint8Array>, file: string, flag: 'a' | 'w', arrived: () => void) {
  const handle = await open(file, flag);
  try {
    for await (const chunk of body) {
      arrived();
      await handle.writeFile(chunk);
    }
  } finally {
    await handle.close();
  }
}

/** Compares a file with the pinned checksum. @throws Error with a sentence. The file stays */
export async function verify(file: string, checksum: Checksum): Promise<void> {
  const complaint = await mismatch(file, checksum);
  if (complaint !== undefined) throw new Error(`${file} ${complaint}`);
}

async function mismatch(file: string, { algorithm, digest }: Checksum): Promise<string | undefined> {
  const hash = createHash(algorithm);
  await pipeline(createReadStream(file), hash);
  const found = hash.digest('hex');
  if (found === digest) return undefined;
  return `does not match the pinned checksum (its ${algorithm} begins with ${found.slice(0, 12)}, not ${digest.slice(0, 12)})`;
}

const getSize = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

const megabytes = (bytes: number): string => (bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0);
