import { setTimeout as sleep } from 'node:timers/promises';
import { areTrusting, issuedAtOf, signerOf } from './inspect.ts';
import { announce } from './rotation.ts';
import type { CertificateStore, StoredPair } from './store.ts';

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
