import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Debounce } from '../async/debounce.ts';
import { describeError } from '../wording/errors.ts';
import type { IssuePair } from './issue.ts';
import { areTrusting, inspectPair, signerOf, withAuthority, issuedAtOf } from './inspect.ts';
import { planCertificates, renewalDueAt, VALID_DAYS } from './plan-certificates.ts';
import type { CertificateStore, StoredPair, Trust } from './store.ts';

interface RotationOptions extends CertificateStore {
  /** Tells of what changes of both. */
  readonly changes: Pick<Debounce, 'wait'>;
  readonly issuePair: IssuePair;
  /** The name that the API server calls the webhook by. */
  readonly dnsName: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** How soon it checks again after a failure, and how long a new authority is known before it is used. */
  readonly retryMs?: number;
  readonly settleMs?: number;
  readonly now?: () => number;
}

/**
 * Sees to it, on the replica that leads, that the webhook has a certificate which the API server trusts: makes one where
 * there is none, whoever was to bring it, and another one well before it ends. An API server always trusts a new authority
 * before it meets a certificate of it, and goes on trusting the old one.
 */
export async function rotateCertificates(options: RotationOptions): Promise<void> {
  const { readPair, readTrust, changes, signal, logger, retryMs = 2_000 } = options;
  let wasThere = false;
  /** One check; for how many milliseconds nothing is due if nothing changes, or undefined when it should soon be repeated. */
  const check = async (): Promise<number | undefined> => {
    const [pair, trust] = [await readPair(), await readTrust()];
    // Whoever brings it may be bringing another one: Pulumi deletes a Secret whose content changes, and creates it anew.
    const mayBeReplaced = wasThere && pair === undefined;
    wasThere = pair !== undefined;
    return mayBeReplaced ? undefined : await act(pair, trust, options);
  };
  while (!signal.aborted) {
    const idleMs = await check().catch((error: unknown) => {
      if (!signal.aborted)
        logger.warn({ problem: describeError(error) }, 'cannot check or renew the webhook certificate, retrying');
      return undefined;
    });
    if (idleMs !== undefined) await changes.wait(idleMs, signal);
    else await sleep(retryMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

/** Should a watch ever miss something, and for clocks that are set. */
const IDLE_MS = 3_600_000;

/** Does what is due; returns for how many milliseconds nothing is. What it did itself is told as any other change. */
async function act(pair: StoredPair | undefined, trust: Trust | undefined, options: RotationOptions): Promise<number> {
  const { dnsName, now = Date.now } = options;
  const signer = pair === undefined ? undefined : signerOf(pair);
  const trusted = signer !== undefined && trust !== undefined && areTrusting(trust.bundles, signer);
  const facts = pair === undefined ? undefined : inspectPair(pair, dnsName);
  const plan = planCertificates({ pair: facts, trusted, now: now() });
  if (facts !== undefined && plan === 'nothing') return Math.min(renewalDueAt(facts) - now(), IDLE_MS);
  if (plan !== 'trust') await replacePair(plan === 'renew', pair, trust, options);
  else if (signer !== undefined) await trustSigner(signer, trust, options);
  return IDLE_MS;
}

async function trustSigner(signer: string, trust: Trust | undefined, options: RotationOptions): Promise<void> {
  // Without a webhook there is nobody to be trusted by; it comes last of all objects.
  if (trust === undefined) return;
  await announce(signer, trust, options);
  options.logger.info({}, 'CA of the webhook certificate added to caBundle');
}

async function replacePair(
  works: boolean,
  before: StoredPair | undefined,
  trust: Trust | undefined,
  options: RotationOptions,
): Promise<void> {
  const { dnsName, logger, signal, writePair, settleMs = 15_000, now = Date.now } = options;
  const { certificate, key, authority } = await options.issuePair(dnsName, VALID_DAYS, now());
  if (trust !== undefined) await announce(authority, trust, options);
  if (works && trust !== undefined) await sleep(settleMs, undefined, { signal, ref: false });
  const bundle = withAuthority(before?.authority ?? '', authority, now());
  await writePair({ certificate, key, authority: bundle }, before);
  logger.info({ days: VALID_DAYS, renewed: works }, 'webhook certificate issued');
}

/** Tells the API server of one more authority, beside those that it trusts already. */
async function announce(
  authority: string,
  trust: Trust,
  { writeTrust, now = Date.now }: Pick<RotationOptions, 'writeTrust' | 'now'>,
): Promise<void> {
  const bundles = trust.bundles.map((bundle) => withAuthority(bundle, authority, now()));
  await writeTrust(bundles, trust);
}

/** How long an API server may take to notice whom it trusts now. */
const SETTLE_MS = 2_000;
/** An authority of a certificate that is older than this was announced long ago. */
const YOUNG_MS = 5 * 60_000;

/**
 * Reads the pair to serve from where anybody may put one (Helm with each upgrade, the rotation when one ends): a new one is given
 * back only when the API server trusts its authority, which it is told here, beside those that it trusts already. So no call
 * fails, whoever changes the Secret, in whatever order. Undefined while there is none.
 */
export function trustedPair(store: CertificateStore): () => Promise<StoredPair | undefined> {
  const { readPair, readTrust } = store;
  let served: StoredPair | undefined;
  return async () => {
    const pair = await readPair();
    if (pair === undefined || pair.resourceVersion === served?.resourceVersion) return pair;
    const signer = signerOf(pair);
    const trust = await readTrust();
    const toBeTold = signer !== undefined && trust !== undefined && !areTrusting(trust.bundles, signer);
    if (toBeTold) await announce(signer, trust, store);
    // Another replica may have told it only just now.
    if (toBeTold || Date.now() - issuedAtOf(pair.certificate) < YOUNG_MS)
      await sleep(SETTLE_MS, undefined, { ref: false });
    served = pair;
    return pair;
  };
}
