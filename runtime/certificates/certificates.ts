import type { RuntimeConfig } from '../config/config.ts';
import { suffixes } from '../contract.ts';
import { changesOf, type Watching } from '../kubernetes/watch/watches.ts';
import type { CertificateStore } from './store.ts';
import { trustedPair } from './rotation.ts';
import { fromFolder, type CertificateSource } from './follow-certificate.ts';

/** Should a watch ever miss something. */
const IDLE_MS = 3_600_000;
const RETRY_MS = 2_000;

/** Where a replica finds what its webhook serves: a volume would show a new Secret only after a minute. */
export function certificateSource(
  { certificatesDirectory, certificatesIssuer, operatorNamespace, operatorName }: RuntimeConfig,
  store: CertificateStore,
  watching: Watching,
): CertificateSource {
  if (certificatesDirectory !== '') return fromFolder(certificatesDirectory);
  const place = `Secret '${operatorNamespace}/${operatorName}${suffixes.certificates}'`;
  // Whoever else issues tells the API server as well.
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
