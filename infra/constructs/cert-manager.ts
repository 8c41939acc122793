import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { suffixes } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import { labels, type Installation } from './labels.ts';
import { webhookHost } from './runtime-environment.ts';

/** If the authority changes, some reviews fail until the API server knows the new one. So the authority outlives many certificates. */
const AUTHORITY_DURATION = '43800h';

/** Returns the annotation by which cert-manager's CA injector writes the authority into the webhook configuration. */
export const injectedFrom = ({ name, namespace }: Installation) => ({
  'cert-manager.io/inject-ca-from': `${namespace}/${name}${suffixes.certificates}`,
});

/** Without a user's issuer, the certificate's own authority signs it, so a renewed one is trusted before it is served. */
export class CertManagerCertificate extends Construct {
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const { name, namespace, certificates } = settings;
    const secretName = `${name}${suffixes.certificates}`;
    const authority = `${name}-webhook-authority`;
    const selfSigned = `${authority}-self-signed`;
    const isOwn = Object.keys(certificates.issuerRef).length === 0;
    const object = (kind: string, objectName: string, spec: object) =>
      new ApiObject(this, `${kind}-${objectName}`, {
        apiVersion: 'cert-manager.io/v1',
        kind,
        metadata: { name: objectName, namespace, labels: labels(settings, 'webhook') },
        spec,
      });
    if (isOwn) {
      object('Issuer', selfSigned, { selfSigned: {} });
      object('Certificate', authority, {
        isCA: true,
        commonName: 'lumigo-operator',
        secretName: authority,
        duration: AUTHORITY_DURATION,
        privateKey: { algorithm: 'ECDSA', size: 256 },
        issuerRef: { kind: 'Issuer', name: selfSigned },
      });
      object('Issuer', authority, { ca: { secretName: authority } });
    }
    object('Certificate', secretName, {
      secretName,
      dnsNames: [webhookHost(settings)],
      usages: ['digital signature', 'server auth'],
      privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always' },
      issuerRef: isOwn ? { kind: 'Issuer', name: authority } : certificates.issuerRef,
    });
  }
}
