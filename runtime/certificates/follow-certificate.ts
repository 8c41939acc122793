import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { certificateFiles } from '../contract.ts';
import { describeError } from '../wording/errors.ts';
import { lifeOf } from './inspect.ts';
import { renewalDueAt } from './plan-certificates.ts';

export interface Pair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export interface CertificateSource {
  /** Reads the pair that should be served; rejects where there is none. */
  readonly read: () => Promise<Pair>;
  /** Where it stands, for people. */
  readonly place: string;
  /** Resolves when it should be read again; `isServed`: what was read last is what is served. */
  readonly untilNextCheck: (isServed: boolean, signal: AbortSignal) => Promise<unknown>;
}

/** When a certificate ends and when it is to be renewed, in seconds since 1970. */
export interface CertificateTimes {
  readonly expiresAt: number;
  readonly renewalDueAt: number;
}

interface FollowOptions extends CertificateSource {
  readonly use: (pair: Pair) => void;
  /** Told of the certificate that is served from now on. */
  readonly onLoaded?: (times: CertificateTimes) => void;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** From a folder, where its files change whole or one after the other; notifications do not reach every kind of volume. */
export const fromFolder = (directory: string): CertificateSource => ({
  place: directory,
  read: async () => ({
    cert: await readFile(join(directory, certificateFiles.certificate)),
    key: await readFile(join(directory, certificateFiles.key)),
  }),
  untilNextCheck: (_isServed, signal) => sleep(2_000, undefined, { signal, ref: false }),
});

/**
 * Keeps serving what stands there: the first pair as soon as it is there, a new one as soon as its place tells, without a restart.
 * A pair that does not fit (half of an update, say) is reported once and the old stays. Returns whether one is being served.
 */
export function followCertificate(options: FollowOptions): () => boolean {
  const { read, place, untilNextCheck, use, onLoaded, logger, signal } = options;
  let served: Pair | undefined;
  let lastProblem = '';

  /** Whether what is there is served now. */
  const check = async (): Promise<boolean> => {
    try {
      const pair = await read();
      if (served !== undefined && isSame(pair, served)) return true;
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
    while (!signal.aborted) {
      await untilNextCheck(await check(), signal).catch(() => undefined);
    }
  };
  void follow();
  return () => served !== undefined;
}

function timesOf(certificate: X509Certificate): CertificateTimes {
  const life = lifeOf(certificate);
  return { expiresAt: life.notAfter / 1_000, renewalDueAt: renewalDueAt(life) / 1_000 };
}

const isSame = (one: Pair, other: Pair): boolean => one.cert.equals(other.cert) && one.key.equals(other.key);
