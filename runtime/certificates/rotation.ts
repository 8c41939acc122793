import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Logger } from 'pino';
import type { Debounce } from '../async/debounce.ts';
import { retrying } from '../kubernetes/http/retrying.ts';
import type { IssuedPair, IssuePair } from './issue.ts';
import {
  areTrusting,
  inspectPair,
  planCertificates,
  renewalDueAt,
  signerOf,
  VALID_DAYS,
  withAuthority,
} from './plan-certificates.ts';
import type { CertificateStore, StoredPair, Trust } from './store.ts';

interface RotationOptions {
  readonly store: CertificateStore;
  /** Wakes it when the Secret or the webhook configuration changes. */
  readonly changes: Pick<Debounce, 'wait'>;
  /** Default: a process of its own. */
  readonly issuePair?: IssuePair;
  /** The name that the API server calls the webhook by. */
  readonly dnsName: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** How soon it checks again after a failure. Default 2 s. */
  readonly retryMs?: number;
  /** How long a new authority is announced before a certificate of it is served. Default 15 s. */
  readonly settleMs?: number;
  readonly now?: () => number;
}

/** Checks again at least this often, in case a watch misses a change, or a clock is set. */
const IDLE_MS = 3_600_000;

/**
 * Keeps, on the replica that leads, a certificate for the webhook that the API server trusts. It issues one if there is none, and the next
 * one well before that expires. An API server always trusts a new authority before it meets a certificate of it, and goes on
 * trusting the previous one.
 */
export async function rotateCertificates(options: RotationOptions): Promise<void> {
  const { store, changes, signal, logger, retryMs = 2_000 } = options;
  let wasThere = false;
  /** Returns for how many milliseconds nothing is due if nothing changes. */
  const check = async (): Promise<number> => {
    let pair = await store.readPair();
    // A missing Secret may be about to be replaced: Pulumi deletes one whose content changes, and creates it again.
    if (wasThere && pair === undefined) {
      wasThere = false;
      await sleep(retryMs, undefined, { signal });
      pair = await store.readPair();
    }
    wasThere = pair !== undefined;
    return act(pair, await store.readTrust(), options);
  };
  const failure = 'cannot check or renew the webhook certificate, retrying';
  while (!signal.aborted) {
    const idleMs = await retrying(check, { signal, logger, failure, firstMs: retryMs });
    if (idleMs !== undefined) await changes.wait(idleMs, signal);
  }
}

/** Does what is due. Returns for how many milliseconds nothing is. Its own changes wake it like any other change. */
async function act(pair: StoredPair | undefined, trust: Trust | undefined, options: RotationOptions): Promise<number> {
  const { dnsName, now = Date.now } = options;
  const facts = pair && inspectPair(pair, dnsName);
  const signer = pair && signerOf(pair);
  const plan = planCertificates({ pair: facts, trusted: isTrusted(signer, trust), now: now() });
  if (facts !== undefined && plan === 'nothing') return Math.min(renewalDueAt(facts) - now(), IDLE_MS);
  if (plan !== 'trust') await replacePair(plan === 'renew', pair, trust, options);
  // The webhook configuration is created last of all objects. Until then there is nothing to announce.
  else if (signer !== undefined && trust !== undefined) {
    await options.store.announce(signer, trust, now());
    options.logger.info({}, 'CA of the webhook certificate added to caBundle');
  }
  return IDLE_MS;
}

const isTrusted = (signer: string | undefined, trust: Trust | undefined): boolean =>
  signer !== undefined && trust !== undefined && areTrusting(trust.bundles, signer);

async function replacePair(
  works: boolean,
  before: StoredPair | undefined,
  trust: Trust | undefined,
  options: RotationOptions,
): Promise<void> {
  const { store, dnsName, logger, signal, issuePair = issueElsewhere, settleMs = 15_000, now = Date.now } = options;
  const { certificate, key, authority } = await issuePair(dnsName, VALID_DAYS, now());
  if (trust !== undefined) await store.announce(authority, trust, now());
  if (works && trust !== undefined) await sleep(settleMs, undefined, { signal, ref: false });
  const bundle = withAuthority(before?.authority ?? '', authority, now());
  await store.writePair({ certificate, key, authority: bundle }, before);
  logger.info({ days: VALID_DAYS, renewed: works }, 'webhook certificate issued');
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
