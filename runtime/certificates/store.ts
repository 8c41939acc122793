import { certificateFiles, fieldManager, suffixes } from '../contract.ts';
import { guarded, type Client } from '../kubernetes/http/client.ts';
import { dataOf } from '../kubernetes/resources/objects.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { webhooksOf, webhooksRef } from '../kubernetes/resources/webhooks.ts';
import { ownMetadata, type Installed } from '../installation/installation.ts';
import { withAuthority, type CertificateFiles } from './plan-certificates.ts';

/** The webhook configuration, as far as certificates go. */
export interface Trust {
  readonly resourceVersion: string;
  /** The caBundle of each webhook, as PEM. */
  readonly bundles: readonly string[];
}

export interface StoredPair extends CertificateFiles {
  readonly resourceVersion: string;
}

export type CertificateStore = ReturnType<typeof certificateStore>;

const encode = (text: string): string => Buffer.from(text).toString('base64');
const decode = (text = ''): string => Buffer.from(text, 'base64').toString('utf8');

/** Reads and writes the webhook's certificate (a Secret) and the trust in it (the caBundle of the webhook configuration). */
export function certificateStore(client: Client, installed: Installed) {
  const { operatorNamespace: namespace, operatorName } = installed;
  const secrets = { ...kinds.secrets, namespace };
  const pairRef = { ...secrets, name: `${operatorName}${suffixes.certificates}` };
  const trustRef = webhooksRef(installed);
  const written = ({ certificate, key, authority }: CertificateFiles) => ({
    [certificateFiles.certificate]: encode(certificate),
    [certificateFiles.key]: encode(key),
    [certificateFiles.authority]: encode(authority),
  });
  const writeTrust = async (bundles: readonly string[], before: Trust): Promise<void> => {
    const operations = bundles.map((bundle, index) => ({
      op: 'add' as const,
      path: `/webhooks/${index}/clientConfig/caBundle`,
      value: encode(bundle),
    }));
    await client.patch(trustRef, guarded(before.resourceVersion, operations), { fieldManager });
  };
  return {
    pairRef,
    trustRef,

    /** Undefined: there is no Secret. */
    async readPair(): Promise<StoredPair | undefined> {
      const found = await client.find(pairRef);
      if (found === undefined) return undefined;
      const data = dataOf(found);
      return {
        resourceVersion: found.metadata.resourceVersion ?? '',
        certificate: decode(data[certificateFiles.certificate]),
        key: decode(data[certificateFiles.key]),
        authority: decode(data[certificateFiles.authority]),
      };
    },

    /** Fails with a conflict when the Secret changed since it was read, or is there although it was not. */
    async writePair(files: CertificateFiles, before: StoredPair | undefined): Promise<void> {
      if (before !== undefined) {
        const patch = guarded(before.resourceVersion, [{ op: 'add', path: '/data', value: written(files) }]);
        await client.patch(pairRef, patch, { fieldManager });
        return;
      }
      const metadata = { name: pairRef.name, namespace, ...(await ownMetadata(client, installed)) };
      const object = { apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls', metadata, data: written(files) };
      await client.create(secrets, object, { fieldManager });
    },

    /** Undefined: the webhook is not installed (yet). */
    async readTrust(): Promise<Trust | undefined> {
      const found = await client.find(trustRef);
      if (found === undefined) return undefined;
      return {
        resourceVersion: found.metadata.resourceVersion ?? '',
        bundles: webhooksOf(found).map(({ clientConfig }) => decode(clientConfig.caBundle)),
      };
    },

    writeTrust,

    /** Lets the API server trust one more authority, beside those that it trusts already. */
    announce: (authority: string, before: Trust, now: number): Promise<void> =>
      writeTrust(
        before.bundles.map((bundle) => withAuthority(bundle, authority, now)),
        before,
      ),
  };
}
