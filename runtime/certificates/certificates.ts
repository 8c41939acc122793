import type { RuntimeConfig } from '../config/config.ts';
import { certificateFiles, suffixes } from '../contract.ts';
import { changesOf, type Watching } from '../kubernetes/watch/watches.ts';
import { createClient, type Client } from '../kubernetes/http/client.ts';
import type { ResourceRef } from '../kubernetes/http/paths.ts';
import { dataOf } from '../kubernetes/resources/objects.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { certificatesIn } from './inspect.ts';
import type { CertificateStore } from './store.ts';
import { trustedPair } from './rotation.ts';
import { fromFolder, type CertificateSource } from './follow-certificate.ts';

/** Should a watch ever miss something. */
const IDLE_MS = 3_600_000;
const RETRY_MS = 2_000;

/** Where a replica finds what its webhook serves: a volume would show a new Secret only after a minute. */
export function certificateSource(
  config: RuntimeConfig,
  store: CertificateStore,
  watching: Watching,
): CertificateSource {
  const { operatorNamespace: namespace, webhookClientCa: name } = config;
  if (name === '') return servedPair(config, store, watching);
  const authorities = { ...kinds.configMaps, namespace, name };
  const source = servedPair(config, store, watching, [authorities]);
  const client = createClient(watching.transport);
  const read = async () => ({
    ...(await source.read()),
    clientAuthorities: await clientAuthorities(client, authorities),
  });
  return { ...source, read };
}

/** What nobody trusts is none: a webhook that would take everybody's certificate serves nothing. */
async function clientAuthorities(client: Client, ref: ResourceRef): Promise<readonly string[]> {
  const data = dataOf(await client.get(ref));
  const authorities = certificatesIn(data[certificateFiles.authority] ?? '');
  if (authorities.length > 0) return authorities;
  throw new Error(
    `ConfigMap '${ref.namespace}/${ref.name}' (webhook.clientCa) has no certificate in '${certificateFiles.authority}'; add the CA of the API server's client certificate there, in PEM format`,
  );
}

function servedPair(
  { certificatesDirectory, certificatesIssuer, operatorNamespace, operatorName }: RuntimeConfig,
  store: CertificateStore,
  watching: Watching,
  further: Parameters<typeof changesOf>[0] = [],
): CertificateSource {
  if (certificatesDirectory !== '') return fromFolder(certificatesDirectory);
  const place = `Secret '${operatorNamespace}/${operatorName}${suffixes.certificates}'`;
  // Whoever else issues tells the API server as well.
  const readPair = certificatesIssuer === 'external' ? () => store.readPair() : trustedPair(store);
  const changes = changesOf([store.pairRef, ...further], watching);
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
