import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { certificateFiles, suffixes } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import { labels } from './labels.ts';

/** A certificate that whoever delivers the manifests has made: PEM in base64, and a text that differs for each. */
export interface DeliveredCertificate {
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
  readonly checksum: string;
}

/**
 * The webhook's certificate, where the delivery makes it. Its authority is announced to the API server by the operator, before
 * it serves the certificate; so the authority of the one before stays trusted for as long as that is served.
 */
export class WebhookCertificate extends Construct {
  constructor(scope: Construct, id: string, settings: Settings, { certificate, key, authority }: DeliveredCertificate) {
    super(scope, id);
    new ApiObject(this, 'secret', {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: `${settings.name}${suffixes.certificates}`,
        namespace: settings.namespace,
        labels: labels(settings, 'webhook'),
      },
      type: 'kubernetes.io/tls',
      data: {
        [certificateFiles.certificate]: certificate,
        [certificateFiles.key]: key,
        [certificateFiles.authority]: authority,
      },
    });
  }
}
