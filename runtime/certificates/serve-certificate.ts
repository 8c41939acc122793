import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { RuntimeConfig } from '../config/config.ts';
import { certificateFiles, suffixes } from '../contract.ts';
import { changesOf, type Watching } from '../kubernetes/watch/watches.ts';
import { describeError } from '../wording/errors.ts';
import { areTrusting, issuedAtOf, lifeOf, renewalDueAt, signerOf } from './plan-certificates.ts';
import type { CertificateStore, StoredPair } from './store.ts';

export interface Pair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export interface CertificateSource {
  /** Reads the pair to serve. Rejects if there is none. */
  readonly read: () => Promise<Pair>;
  /** The place of the pair, for people. */
  readonly place: string;
  /** Resolves when the pair must be read again. `isServed`: the pair that was read last is served. */
  readonly untilNextCheck: (isServed: boolean, signal: AbortSignal) => Promise<unknown>;
}

/** The times of a certificate, in seconds since 1970. */
export interface CertificateTimes {
  readonly expiresAt: number;
  readonly renewalDueAt: number;
}

interface FollowOptions extends CertificateSource {
  readonly use: (pair: Pair) => void;
  /** Called for each certificate that is served from now on. */
  readonly onLoaded?: (times: CertificateTimes) => void;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Reads again at least this often, in case a watch misses a change. */
const IDLE_MS = 3_600_000;
const RETRY_MS = 2_000;
/** How long an API server may take to apply a changed caBundle. */
const SETTLE_MS = 2_000;
/** An authority whose certificate is older than this was announced long ago. */
const RECENT_MS = 5 * 60_000;

/** Returns where a replica finds the pair that its webhook serves. The Secret is watched, because a volume shows a new one after a minute. */
export function certificateSource(
  { certificatesDirectory, certificatesIssuer, operatorNamespace, operatorName }: RuntimeConfig,
  store: CertificateStore,
  watching: Watching,
): CertificateSource {
  if (certificatesDirectory !== '') return fromFolder(certificatesDirectory);
  const place = `Secret '${operatorNamespace}/${operatorName}${suffixes.certificates}'`;
  // An external issuer tells the API server itself.
  const readPair = certificatesIssuer === 'external' ? () => store.readPair() : trustedPair(store);
  const changes = changesOf([store.pairRef], watching);
  return {
    place,
    untilNextCheck: (isServed, signal) => changes.wait(isServed ? IDLE_MS : RETRY_MS, signal),
    read: async () => {
      const pair = await readPair();
      if (pair === undefined) throw new Error(`${place} does not exist yet`);
      return { cert: Buffer.from(pair.certificate), key: Buffer.from(pair.key) };
    },
  };
}

/** Reads a folder every 2 s, because notifications do not reach every kind of volume. */
const fromFolder = (directory: string): CertificateSource => ({
  place: directory,
  read: async () => ({
    cert: await readFile(join(directory, certificateFiles.certificate)),
    key: await readFile(join(directory, certificateFiles.key)),
  }),
  untilNextCheck: (_isServed, signal) => sleep(RETRY_MS, undefined, { signal, ref: false }),
});

/**
 * Reads the pair from the Secret, which Helm writes with each upgrade and the rotation when a pair expires. A new pair is returned
 * only when the API server trusts its authority, which is announced here if necessary. So no call fails, whatever changes
 * the Secret, in whatever order. Returns undefined while there is no pair.
 */
function trustedPair(store: CertificateStore): () => Promise<StoredPair | undefined> {
  let served: StoredPair | undefined;
  return async () => {
    const pair = await store.readPair();
    if (pair === undefined || pair.resourceVersion === served?.resourceVersion) return pair;
    const signer = signerOf(pair);
    const trust = await store.readTrust();
    const isNews = signer !== undefined && trust !== undefined && !areTrusting(trust.bundles, signer);
    if (isNews) await store.announce(signer, trust, Date.now());
    // Another replica may have announced it a moment ago.
    if (isNews || Date.now() - issuedAtOf(pair.certificate) < RECENT_MS)
      await sleep(SETTLE_MS, undefined, { ref: false });
    served = pair;
    return pair;
  };
}

/**
 * Serves the first pair as soon as there is one, and each new one without a restart. A pair that does not fit, such as half of an
 * update, is reported once, and the previous one stays. Returns whether a pair is being served.
 */
export function followCertificate(options: FollowOptions): () => boolean {
  const { read, place, untilNextCheck, use, onLoaded, logger, signal } = options;
  let served: Pair | undefined;
  let lastProblem = '';

  /** Returns whether the pair that was read is served now. */
  const check = async (): Promise<boolean> => {
    try {
      const pair = await read();
      if (served?.cert.equals(pair.cert) === true && served.key.equals(pair.key)) return true;
      use(pair);
      const parsed = new X509Certificate(pair.cert);
      served = pair;
      onLoaded?.(timesOf(parsed));
      lastProblem = '';
      logger.info({ place, expires: new Date(parsed.validTo).toISOString() }, 'webhook certificate loaded');
      return true;
    } catch (error) {
      const problem = describeError(error);
      if (problem !== lastProblem)
        logger.warn(
          { place, problem },
          `cannot use the webhook certificate, ${served === undefined ? 'serving none' : 'still serving the previous one'}`,
        );
      lastProblem = problem;
      return false;
    }
  };

  const follow = async (): Promise<void> => {
    while (!signal.aborted) await untilNextCheck(await check(), signal).catch(() => undefined);
  };
  void follow();
  return () => served !== undefined;
}

function timesOf(certificate: X509Certificate): CertificateTimes {
  const life = lifeOf(certificate);
  return { expiresAt: life.notAfter / 1_000, renewalDueAt: renewalDueAt(life) / 1_000 };
}
