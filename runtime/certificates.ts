import type { RuntimeConfig } from './config.ts';
import { suffixes } from './contract.ts';
import type { Client } from './kubernetes/client.ts';
import { certificateStore } from './tls/store.ts';
import { trustedPair } from './tls/trusted-pair.ts';
import { fromFolder, type CertificateSource } from './webhook/certificate.ts';

export type CertificateStore = ReturnType<typeof certificateStore>;

export const certificateStoreOf = (
  { operatorNamespace, operatorName }: RuntimeConfig,
  client: Client,
): CertificateStore =>
  certificateStore(client, {
    namespace: operatorNamespace,
    secret: `${operatorName}${suffixes.certificates}`,
    webhook: `${operatorName}${suffixes.injectorWebhook}`,
    deployment: `${operatorName}${suffixes.manager}`,
  });

/** Where a replica finds what its webhook serves: a volume would show a new Secret only after a minute. */
export function certificateSource(
  { certificatesDirectory, certificatesIssuer, operatorNamespace, operatorName }: RuntimeConfig,
  store: CertificateStore,
): CertificateSource {
  if (certificatesDirectory !== '') return { read: fromFolder(certificatesDirectory), place: certificatesDirectory };
  const place = `Secret '${operatorNamespace}/${operatorName}${suffixes.certificates}'`;
  // Whoever else issues tells the API server as well.
  const readPair = certificatesIssuer === 'external' ? () => store.readPair() : trustedPair(store);
  return {
    place,
    intervalMs: { first: 500, later: 10_000 },
    read: async () => {
      const pair = await readPair();
      if (pair === undefined) throw new Error(`${place} does not exist yet`);
      return { cert: Buffer.from(pair.certificate), key: Buffer.from(pair.key) };
    },
  };
}
