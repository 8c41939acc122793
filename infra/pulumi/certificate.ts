import { core } from '@pulumi/kubernetes';
import type { CustomResourceOptions } from '@pulumi/pulumi';
import { PrivateKey, SelfSignedCert } from '@pulumi/tls';
import { certificateFiles, suffixes } from '../../runtime/contract.ts';
import { labels } from '../constructs/labels.ts';
import { webhookHost } from '../constructs/runtime-environment.ts';
import type { Settings } from '../settings/settings.ts';
import { operatorVersion } from '../settings/version.ts';

const YEAR_HOURS = 365 * 24;
/** In hours. An `up` in the last 30 days of the certificate renews it. Without an `up`, the operator renews it. */
const EARLY_HOURS = 30 * 24;

/** Registers a certificate for each version, despite a `protect` of the component. The Secret is separate, to keep previews readable. */
export function registerCertificate(name: string, settings: Settings, options: CustomResourceOptions): core.v1.Secret {
  const host = webhookHost(settings);
  const replaced = { ...options, protect: false };
  const anew = { ...replaced, replacementTrigger: operatorVersion() };
  const key = new PrivateKey(`${name}-webhook`, { algorithm: 'ECDSA', ecdsaCurve: 'P256' }, anew);
  const certificate = new SelfSignedCert(
    `${name}-webhook`,
    {
      privateKeyPem: key.privateKeyPem,
      subject: { commonName: host },
      dnsNames: [host],
      validityPeriodHours: YEAR_HOURS,
      earlyRenewalHours: EARLY_HOURS,
      isCaCertificate: true,
      allowedUses: ['digital_signature', 'cert_signing', 'server_auth'],
    },
    anew,
  );
  return new core.v1.Secret(
    `${name}-webhook-certificates`,
    {
      metadata: {
        name: `${settings.name}${suffixes.certificates}`,
        namespace: settings.namespace,
        labels: labels(settings, 'webhook'),
        // The operator may have renewed the certificate and then owns the fields.
        annotations: { 'pulumi.com/patchForce': 'true' },
      },
      type: 'kubernetes.io/tls',
      stringData: {
        [certificateFiles.certificate]: certificate.certPem,
        [certificateFiles.key]: key.privateKeyPemPkcs8,
        [certificateFiles.authority]: certificate.certPem,
      },
    },
    replaced,
  );
}
