import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { retrying } from '../async/retrying.ts';
import { watchChanges, type Watching } from '../kubernetes/watch/watches.ts';
import type { IssuePair } from './issue.ts';
import { isPairDue, withAuthority, type CertificateFiles } from './plan-certificates.ts';
import type { CertificateStore } from './store.ts';

interface RotationOptions extends Watching {
  readonly store: CertificateStore;
  /** Default: a separate process. */
  readonly issuePair?: IssuePair;
  readonly dnsName: string;
  /** Default 2 s. */
  readonly retryMs?: number;
  /** How long a Secret may be missing before it is issued anew. Default 30 s. */
  readonly graceMs?: number;
}

const VALID_DAYS = 365;
/** A watch may miss a change, or a clock may be set. */
const IDLE_MS = 3_600_000;
/** A watch misses a deletion before its first list. */
const FIRST_IDLE_MS = 5_000;

/** Keeps a valid certificate in the Secret. Each replica announces it before serving it (serve-certificate.ts). */
export async function rotateCertificates(options: RotationOptions): Promise<void> {
  const { store, dnsName, logger, signal, issuePair = issueElsewhere } = options;
  const { retryMs: firstMs = 2_000, graceMs = 30_000 } = options;
  const check = async (): Promise<void> => {
    const before = await readPair(store, graceMs, signal);
    if (!isPairDue(before, dnsName, Date.now())) return;
    const issued = await issuePair(dnsName, VALID_DAYS, Date.now());
    await store.writePair(
      { ...issued, authority: withAuthority(before?.authority ?? '', issued.authority, Date.now()) },
      before,
    );
    logger.info({ days: VALID_DAYS }, 'webhook certificate issued');
  };
  const changes = watchChanges([store.pairRef], options);
  const failure = 'cannot check or renew the webhook certificate, retrying';
  for (let idleMs = FIRST_IDLE_MS; !signal.aborted; idleMs = IDLE_MS) {
    await retrying(check, { signal, logger, failure, firstMs, maxMs: firstMs });
    await changes.wait(idleMs, signal);
  }
}

/** Pulumi deletes a Secret whose content changes, saves its state for seconds, and fails if the Secret exists again. */
async function readPair(store: CertificateStore, graceMs: number, signal: AbortSignal) {
  const found = await store.readPair();
  if (found !== undefined || (await store.readTrust()).every((bundle) => bundle === '')) return found;
  await sleep(graceMs, undefined, { signal });
  return store.readPair();
}

/** Signing takes a tenth of a second on an idle machine. */
const ISSUE_TIMEOUT_MS = 60_000;

/** Issues in a separate process, because the library takes 13 MB. Its flags close Node.js' inspector (Dockerfile). */
const issueElsewhere: IssuePair = async (host, days, now) => {
  const program = join(import.meta.dirname, 'issuer.js');
  const args = [...process.execArgv, program, host, String(days), String(now)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: ISSUE_TIMEOUT_MS, env: {} });
  return JSON.parse(stdout) as CertificateFiles;
};
