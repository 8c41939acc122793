import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Checksum } from './archives.ts';
import type { Progress } from './progress.ts';
import { digestOf, sizeOf, transfer, TransferError } from './transfer.ts';

/** How long a download may take. */
export interface Patience {
  /** Without a byte. */
  readonly stallMs: number;
  /** For all of it; by then it would be built. */
  readonly totalMs: number;
  /** How often a connection that was cut off is taken up again. */
  readonly retries: number;
  readonly pauseMs: number;
}

export const usualPatience: Patience = { stallMs: 15_000, totalMs: 300_000, retries: 3, pauseMs: 1_000 };

export interface Download {
  readonly url: string;
  readonly checksum: Checksum;
  /** What an earlier download left here is continued; what is wrong does not stay. */
  readonly file: string;
  readonly progress: Progress;
  readonly patience: Patience;
}

/** Resolves when the file is there, whole, and the one that the checksum tells of. @throws Error with a sentence why not. */
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

async function attempt({ file, checksum, patience, ...what }: Download, end: AbortSignal): Promise<void> {
  const before = sizeOf(file);
  const { algorithm } = checksum;
  const found = await transfer({ ...what, file, algorithm, stallMs: patience.stallMs, end });
  if (found === checksum.digest) return;
  rmSync(file, { force: true });
  const complaint = `does not match the pinned checksum (${mismatch(checksum, found)}) and was deleted`;
  // What was kept may have been the wrong part.
  throw new TransferError(complaint, before > 0);
}

/** Compares a file with what is pinned. @throws Error with a sentence; the file stays. */
export async function verify(file: string, checksum: Checksum): Promise<void> {
  const found = await digestOf(file, checksum.algorithm);
  if (found !== checksum.digest)
    throw new Error(`${file} does not match the pinned checksum (${mismatch(checksum, found)})`);
}

const mismatch = ({ algorithm, digest }: Checksum, found: string): string =>
  `its ${algorithm} begins with ${found.slice(0, 12)}, not ${digest.slice(0, 12)}`;
