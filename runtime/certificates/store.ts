import { certificateFiles, fieldManager } from '../contract.ts';
import { guarded, type Client, type KubernetesObject } from '../kubernetes/http/client.ts';
import { undefinedIfNotFound } from '../kubernetes/http/errors.ts';
import { ownersOf } from '../kubernetes/resources/owners.ts';
import type { CertificateFiles } from './inspect.ts';
import type { StoredPair, Trust } from './rotation.ts';

interface CertificateNames {
  readonly namespace: string;
  readonly secret: string;
  readonly webhook: string;
  /** Whose the Secret is: it goes when this Deployment goes. */
  readonly deployment: string;
}

const encode = (text: string): string => Buffer.from(text).toString('base64');
const decode = (text = ''): string => Buffer.from(text, 'base64').toString('utf8');

/** Where the webhook's certificate and the trust in it stand in the API. */
export function certificateStore(client: Client, { namespace, secret, webhook, deployment }: CertificateNames) {
  const secrets = { group: '', version: 'v1', plural: 'secrets', namespace };
  const pairRef = { ...secrets, name: secret };
  const admission = { group: 'admissionregistration.k8s.io', version: 'v1' };
  const trustRef = { ...admission, plural: 'mutatingwebhookconfigurations', name: webhook };
  const dataOf = ({ certificate, key, authority }: CertificateFiles) => ({
    [certificateFiles.certificate]: encode(certificate),
    [certificateFiles.key]: encode(key),
    [certificateFiles.authority]: encode(authority),
  });
  return {
    pairRef,
    trustRef,

    async readPair(): Promise<StoredPair | undefined> {
      const found = await client.get(pairRef).catch(undefinedIfNotFound);
      if (found === undefined) return undefined;
      const { data = {} } = found as KubernetesObject & { data?: Record<string, string> };
      return {
        resourceVersion: found.metadata.resourceVersion ?? '',
        certificate: decode(data[certificateFiles.certificate]),
        key: decode(data[certificateFiles.key]),
        authority: decode(data[certificateFiles.authority]),
      };
    },

    async writePair(files: CertificateFiles, before: StoredPair | undefined): Promise<void> {
      if (before !== undefined) {
        const patch = guarded(before.resourceVersion, [{ op: 'add', path: '/data', value: dataOf(files) }]);
        await client.patch(pairRef, patch, { fieldManager });
        return;
      }
      const labels = { 'app.kubernetes.io/managed-by': fieldManager };
      const ownerReferences = await ownersOf(client, namespace, deployment);
      const metadata = { name: secret, namespace, labels, ownerReferences };
      const object = { apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls', metadata, data: dataOf(files) };
      await client.create(secrets, object, { fieldManager });
    },

    async readTrust(): Promise<Trust | undefined> {
      const found = await client.get(trustRef).catch(undefinedIfNotFound);
      if (found === undefined) return undefined;
      const { webhooks: each = [] } = found as KubernetesObject & {
        webhooks?: readonly { readonly clientConfig: { readonly caBundle?: string } }[];
      };
      return {
        resourceVersion: found.metadata.resourceVersion ?? '',
        bundles: each.map(({ clientConfig }) => decode(clientConfig.caBundle)),
      };
    },

    async writeTrust(bundles: readonly string[], before: Trust): Promise<void> {
      const operations = bundles.map((bundle, index) => ({
        op: 'add' as const,
        path: `/webhooks/${index}/clientConfig/caBundle`,
        value: encode(bundle),
      }));
      await client.patch(trustRef, guarded(before.resourceVersion, operations), { fieldManager });
    },
  };
}
