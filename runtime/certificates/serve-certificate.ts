import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { pause, retrying } from '../async/retrying.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { certificateFiles, suffixes } from '../contract.ts';
import { watchChanges, type Watching } from '../kubernetes/watch/watches.ts';
import { getLifetime, findSigner, SKEW_MS } from './plan-certificates.ts';
import type { CertificateStore, StoredPair } from './store.ts';

export interface Pair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export interface CertificateSource {
  /** Rejects if there is none. */
  readonly read: () => Promise<Pair>;
  readonly place: string;
  /** Resolves when the pair must be read again: after this time, or earlier. While a pair is awaited, it waits for one. */
  readonly untilNextCheck: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

interface FollowOptions extends CertificateSource {
  readonly use: (pair: Pair, life: ReturnType<typeof getLifetime>) => void;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

type Place = Pick<RuntimeConfig, 'certificatesDirectory' | 'certificatesIssuer' | 'operatorNamespace' | 'operatorName'>;

/** A watch may miss a change. */
const IDLE_MS = 3_600_000;
const RETRY_MS = 2_000;
/** An API server applies a changed caBundle within this time. A replica without a certificate risks nothing. */
const SETTLE_MS = { first: 2_000, next: 15_000 };

/** Watches the Secret, because a volume shows a new one only after a minute. */
export function certificateSource(
  { certificatesDirectory, certificatesIssuer, operatorNamespace, operatorName }: Place,
  store: CertificateStore,
  watching: Watching,
): CertificateSource {
  if (certificatesDirectory !== '') return fromFolder(certificatesDirectory);
  const place = `Secret '${operatorNamespace}/${operatorName}${suffixes.certificates}'`;
  // An external issuer configures the caBundle itself.
  const isExternal = certificatesIssuer === 'external';
  const changes = watchChanges(isExternal ? [store.pairRef] : [store.pairRef, store.trustRef], watching);
  let served: StoredPair | undefined;
  let isAwaited = false;
  /** Every replica waits until the API server trusts a new authority, so that no call of the webhook fails. */
  const waitForTrust = async (pair: StoredPair): Promise<void> => {
    const signer = findSigner(pair);
    const isNews = signer !== undefined && (await store.announce(signer, Date.now()));
    if (isNews) watching.logger.info({}, 'CA of the webhook certificate added to caBundle');
    if (pair.resourceVersion === served?.resourceVersion) return;
    // Another replica may have announced it a moment ago, also an old one that a tool restored.
    await sleep(SETTLE_MS[served === undefined ? 'first' : 'next'], undefined, { ref: false });
    const waitMs = getLifetime(pair.certificate).notBefore - Date.now();
    // A replica without a former one serves it beyond the skew, because its own clock may be slow.
    if (waitMs > 0 && (served !== undefined || waitMs <= SKEW_MS))
      throw new Error(`the certificate in ${place} is not valid yet`);
  };
  return {
    place,
    // No pair is issued while the installation stands by, and the watch reports a new one.
    untilNextCheck: (ms, signal) => changes.wait(isAwaited ? IDLE_MS : ms, signal),
    read: async () => {
      isAwaited = false;
      const pair = await store.readPair();
      // A tool may bring back one that has ended, which the leader replaces.
      const hasEnded = pair !== undefined && !isExternal && getLifetime(pair.certificate).notAfter <= Date.now();
      isAwaited = pair === undefined || hasEnded;
      if (pair === undefined) throw new Error(`${place} does not exist yet`);
      if (hasEnded) throw new Error(`the certificate in ${place} has ended`);
      if (!isExternal) await waitForTrust(pair);
      served = pair;
      return { cert: Buffer.from(pair.certificate), key: Buffer.from(pair.key) };
    },
  };
}

/** Reads a folder every 2 s, because not every kind of volume sends notifications. */
const fromFolder = (directory: string): CertificateSource => ({
  place: directory,
  read: async () => ({
    cert: await readFile(join(directory, certificateFiles.certificate)),
    key: await readFile(join(directory, certificateFiles.key)),
  }),
  untilNextCheck: (_ms, signal) => pause(RETRY_MS, signal),
});

/** A pair that does not fit is reported once, and the previous one stays. The result tells if any pair is served. */
export function followCertificate(options: FollowOptions): () => boolean {
  const { read, place, untilNextCheck: wait, use, logger, signal } = options;
  let served: Pair | undefined;
  const check = async (): Promise<void> => {
    const pair = await read();
    if (served?.cert.equals(pair.cert) === true && served.key.equals(pair.key)) return;
    const life = getLifetime(pair.cert);
    use(pair, life);
    served = pair;
    logger.info({ place, expires: new Date(life.notAfter).toISOString() }, 'webhook certificate loaded');
  };
  const failure = 'cannot use the webhook certificate, retrying';
  const retries = { signal, logger, failure, fields: { place }, firstMs: RETRY_MS, maxMs: RETRY_MS, wait };
  const follow = async (): Promise<void> => {
    for (; !signal.aborted; await wait(IDLE_MS, signal)) await retrying(check, retries);
  };
  void follow();
  return () => served !== undefined;
}
