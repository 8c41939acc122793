import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { certificateFiles } from '../contract.ts';
import { describeError } from '../errors.ts';

export interface CertificateFollower {
  /** Whether a certificate is being served. */
  readonly loaded: () => boolean;
}

export interface FollowOptions {
  readonly directory: string;
  readonly use: (pair: { cert: Buffer; key: Buffer }) => void;
  /** Told when the certificate that is served from now on ends, in seconds since 1970. */
  readonly onLoaded?: (expiresAt: number) => void;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** How often the files are read; they are small, and notifications do not reach every kind of volume. */
  readonly intervalMs?: number;
}

/**
 * Keeps serving what stands in the certificate's folder: the first pair as soon as it is there, a new one within
 * seconds and without a restart. A pair that does not fit (half of an update, say) is reported once and the old stays.
 */
export function followCertificate(options: FollowOptions): CertificateFollower {
  const { directory, use, onLoaded, logger, signal, intervalMs = 2_000 } = options;
  let served: { cert: Buffer; key: Buffer } | undefined;
  let lastProblem = '';

  const look = async (): Promise<void> => {
    try {
      const cert = await readFile(join(directory, certificateFiles.certificate));
      const key = await readFile(join(directory, certificateFiles.key));
      if (served?.cert.equals(cert) && served.key.equals(key)) return;
      use({ cert, key });
      const parsed = new X509Certificate(cert);
      served = { cert, key };
      onLoaded?.(Date.parse(parsed.validTo) / 1000);
      lastProblem = '';
      logger.info({ directory, expires: new Date(parsed.validTo).toISOString() }, 'webhook certificate loaded');
    } catch (error) {
      const problem = describeError(error);
      if (problem !== lastProblem) logger.warn({ directory, problem }, 'webhook certificate not usable');
      lastProblem = problem;
    }
  };

  const follow = async (): Promise<void> => {
    while (!signal.aborted) {
      await look();
      await sleep(intervalMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  };
  void follow();
  return { loaded: () => served !== undefined };
}
