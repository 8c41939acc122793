import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { describeError } from '../errors.ts';
import { areTrusting, inspectPair, signerOf, withAuthority, type CertificateFiles } from './inspect.ts';
import { planCertificates, VALID_DAYS } from './plan-certificates.ts';

/** The webhook configuration, as far as certificates go. */
export interface Trust {
  readonly resourceVersion: string;
  /** The caBundle of each webhook, as PEM. */
  readonly bundles: readonly string[];
}

export interface StoredPair extends CertificateFiles {
  readonly resourceVersion: string;
}

export interface KeeperOptions {
  /** Undefined: there is no Secret. */
  readonly readPair: () => Promise<StoredPair | undefined>;
  /** Fails with a conflict when the Secret changed since it was read, or is there although it was not. */
  readonly writePair: (files: CertificateFiles, before: StoredPair | undefined) => Promise<void>;
  /** Undefined: the webhook is not installed (yet). */
  readonly readTrust: () => Promise<Trust | undefined>;
  readonly writeTrust: (bundles: readonly string[], before: Trust) => Promise<void>;
  /** The name that the API server calls the webhook by. */
  readonly dnsName: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** How often it looks, how soon again after a failure, and how long a new authority is known before it is used. */
  readonly lookMs?: number;
  readonly retryMs?: number;
  readonly settleMs?: number;
  readonly now?: () => number;
}

/**
 * Sees to it, on the replica that leads, that the webhook has a certificate which the API server trusts: makes one where
 * there is none, whoever was to bring it, and another one well before it ends. An API server always trusts a new authority
 * before it meets a certificate of it, and goes on trusting the old one.
 */
export async function keepCertificates(options: KeeperOptions): Promise<void> {
  const { readPair, readTrust, signal, logger, lookMs = 60_000, retryMs = 2_000 } = options;
  let wasThere = false;
  /** One look; false when it should soon be repeated. */
  const look = async (): Promise<boolean> => {
    const [pair, trust] = [await readPair(), await readTrust()];
    // Whoever brings it may be bringing another one: Pulumi deletes a Secret whose content changes, and creates it anew.
    const mayBeReplaced = wasThere && pair === undefined;
    wasThere = pair !== undefined;
    return !mayBeReplaced && (await act(pair, trust, options));
  };
  while (!signal.aborted) {
    const settled = await look().catch((error: unknown) => {
      if (!signal.aborted) logger.warn({ problem: describeError(error) }, 'webhook certificate not looked after');
      return false;
    });
    await sleep(settled ? lookMs : retryMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

/** Does what is due; false when that needs another look soon. */
async function act(pair: StoredPair | undefined, trust: Trust | undefined, options: KeeperOptions): Promise<boolean> {
  const { dnsName, logger, now = Date.now } = options;
  const signer = pair === undefined ? undefined : signerOf(pair);
  const trusted = signer !== undefined && trust !== undefined && areTrusting(trust.bundles, signer);
  const facts = pair === undefined ? undefined : inspectPair(pair, dnsName);
  const plan = planCertificates({ pair: facts, trusted, now: now() });
  if (plan === 'nothing') return true;
  if (plan === 'trust') {
    // Without a webhook there is nobody to be trusted by; it comes last of all objects.
    if (trust === undefined || signer === undefined) return false;
    await announce(signer, trust, options);
    logger.info({}, 'webhook certificate announced to the API server');
    return true;
  }
  await issue(plan === 'renew', pair, trust, options);
  return trust !== undefined;
}

async function issue(
  works: boolean,
  before: StoredPair | undefined,
  trust: Trust | undefined,
  options: KeeperOptions,
): Promise<void> {
  const { dnsName, logger, signal, writePair, settleMs = 15_000, now = Date.now } = options;
  const validity = { now: new Date(now()), days: VALID_DAYS };
  // Loaded once a year: nobody else needs it.
  const { issueAuthority, issueServing } = await import('./issue.ts');
  const authority = await issueAuthority('lumigo-operator', validity);
  const { certificate, key } = await issueServing(authority, namesOf(dnsName), validity);
  if (trust !== undefined) await announce(authority.certificate, trust, options);
  if (works && trust !== undefined) await sleep(settleMs, undefined, { signal, ref: false });
  const bundle = withAuthority(before?.authority ?? '', authority.certificate, now());
  await writePair({ certificate, key, authority: bundle }, before);
  logger.info({ days: VALID_DAYS, renewed: works }, 'webhook certificate issued');
}

const namesOf = (host: string) =>
  /^[0-9.]+$|:/.test(host) ? { dnsNames: [], ipAddresses: [host] } : { dnsNames: [host] };

/** Tells the API server of one more authority, beside those that it trusts already. */
export async function announce(
  authority: string,
  trust: Trust,
  { writeTrust, now = Date.now }: Pick<KeeperOptions, 'writeTrust' | 'now'>,
): Promise<void> {
  const bundles = trust.bundles.map((bundle) => withAuthority(bundle, authority, now()));
  await writeTrust(bundles, trust);
}
