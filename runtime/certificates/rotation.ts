import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { retrying } from '../async/retrying.ts';
import { changesOf, type Watching } from '../kubernetes/watch/watches.ts';
import type { IssuedPair, IssuePair } from './issue.ts';
import { isPairDue, withAuthority } from './plan-certificates.ts';
import type { CertificateStore, StoredPair } from './store.ts';

interface RotationOptions extends Watching {
  readonly store: CertificateStore;
  /** Default: a process of its own. */
  readonly issuePair?: IssuePair;
  /** The name that the API server calls the webhook by. */
  readonly dnsName: string;
  /** How soon it checks again after a failure. Default 2 s. */
  readonly retryMs?: number;
}

/** How long a certificate that the operator issues is valid. */
const VALID_DAYS = 365;
/** Checks again at least this often, in case a watch misses a change, or a clock is set. */
const IDLE_MS = 3_600_000;

/**
 * Keeps, on the replica that leads, a certificate for the webhook in the Secret. It issues one if there is none, and the next one well
 * before that expires. Each replica announces it before it is served (serve-certificate.ts).
 */
export async function rotateCertificates(options: RotationOptions): Promise<void> {
  const { store, dnsName, logger, signal, issuePair = issueElsewhere, retryMs: firstMs = 2_000 } = options;
  const check = async (): Promise<void> => {
    const before = await readPair(store, firstMs, signal);
    if (!isPairDue(before, dnsName, Date.now())) return;
    const issued = await issuePair(dnsName, VALID_DAYS, Date.now());
    await store.writePair(
      { ...issued, authority: withAuthority(before?.authority ?? '', issued.authority, Date.now()) },
      before,
    );
    logger.info({ days: VALID_DAYS }, 'webhook certificate issued');
  };
  const changes = changesOf([store.pairRef], options);
  const failure = 'cannot check or renew the webhook certificate, retrying';
  for (; !signal.aborted; await changes.wait(IDLE_MS, signal))
    await retrying(check, { signal, logger, failure, firstMs, maxMs: firstMs });
}

/**
 * A missing Secret may be about to be replaced: Pulumi deletes one whose content changes, and creates it again. There was one if an
 * authority is announced.
 */
async function readPair(
  store: CertificateStore,
  graceMs: number,
  signal: AbortSignal,
): Promise<StoredPair | undefined> {
  const found = await store.readPair();
  if (found !== undefined || (await store.readTrust()).every((bundle) => bundle === '')) return found;
  await sleep(graceMs, undefined, { signal });
  return store.readPair();
}

/** Signing takes a tenth of a second on an idle machine. */
const ISSUE_TIMEOUT_MS = 60_000;

/**
 * Issues in a process of its own (issuer.ts), because the library takes 13 MB and is needed once a year. That process has the flags of
 * this one, which close Node.js' inspector (Dockerfile).
 * @throws Error with the output of that process
 */
const issueElsewhere: IssuePair = async (host, days, now) => {
  const program = join(import.meta.dirname, 'issuer.js');
  const args = [...process.execArgv, program, host, String(days), String(now)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: ISSUE_TIMEOUT_MS, env: {} });
  return JSON.parse(stdout) as IssuedPair;
};
