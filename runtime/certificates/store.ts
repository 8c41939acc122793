import { certificateFiles, fieldManager, suffixes } from '../contract.ts';
import { ownMetadata, type Installed } from '../installation/installation.ts';
import { guarded, readAndChange, type Client, type KubernetesObject } from '../kubernetes/http/client.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { toData } from '../kubernetes/resources/objects.ts';
import { getWebhooks, webhooksRef } from '../kubernetes/resources/webhooks.ts';
import { areTrusting, withAuthority, type CertificateFiles } from './plan-certificates.ts';

export interface StoredPair extends CertificateFiles {
  readonly resourceVersion: string;
}

export type CertificateStore = ReturnType<typeof certificateStore>;

const encode = (text: string): string => Buffer.from(text).toString('base64');
const decode = (text = ''): string => Buffer.from(text, 'base64').toString('utf8');

const getBundles = (configuration: KubernetesObject): readonly string[] =>
  getWebhooks(configuration).map(({ clientConfig }) => decode(clientConfig.caBundle));

/** The pair is in a Secret, and the trust in it is the caBundle of the webhook configuration. */
export function certificateStore(client: Client, installed: Installed) {
  const { operatorNamespace: namespace, operatorName } = installed;
  const secrets = { ...kinds.secrets, namespace };
  const pairRef = { ...secrets, name: `${operatorName}${suffixes.certificates}` };
  const trustRef = webhooksRef(installed);
  return {
    pairRef,
    trustRef,

    async readPair(): Promise<StoredPair | undefined> {
      const found = await client.find(pairRef);
      if (found === undefined) return undefined;
      const data = toData(found);
      return {
        resourceVersion: found.metadata.resourceVersion,
        certificate: decode(data[certificateFiles.certificate]),
        key: decode(data[certificateFiles.key]),
        authority: decode(data[certificateFiles.authority]),
      };
    },

    /** Throws a Conflict if the Secret changed, or was created since it was read. */
    async writePair({ certificate, key, authority }: CertificateFiles, before: StoredPair | undefined): Promise<void> {
      const data = {
        [certificateFiles.certificate]: encode(certificate),
        [certificateFiles.key]: encode(key),
        [certificateFiles.authority]: encode(authority),
      };
      if (before !== undefined) {
        const patch = guarded(before.resourceVersion, [{ op: 'add', path: '/data', value: data }]);
        await client.patch(pairRef, patch, { fieldManager });
        return;
      }
      const metadata = { name: pairRef.name, namespace, ...(await ownMetadata(client, installed)) };
      const object = { apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls', metadata, data };
      await client.create(secrets, object, { fieldManager });
    },

    async readTrust(): Promise<readonly string[]> {
      const found = await client.find(trustRef);
      return found === undefined ? [] : getBundles(found);
    },

    /** Adds an authority to each caBundle. Returns false if nothing had to change. */
    async announce(authority: string, now: number): Promise<boolean> {
      const read = () => client.get(trustRef);
      const announced = await readAndChange(undefined, read, async (found) => {
        const bundles = getBundles(found);
        if (areTrusting(bundles, authority)) return false;
        const operations = bundles.map((bundle, index) => ({
          op: 'add' as const,
          path: `/webhooks/${index}/clientConfig/caBundle`,
          value: encode(withAuthority(bundle, authority, now)),
        }));
        await client.patch(trustRef, guarded(found.metadata.resourceVersion, operations), { fieldManager });
        return true;
      });
      return announced ?? false;
    },
  };
}
