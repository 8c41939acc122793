import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { certificateFiles, suffixes } from '../../runtime/contract.ts';
import { labels, type Installation } from './labels.ts';

export interface DeliveredCertificate {
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
}

/** The operator adds the authority to the webhook before it serves the certificate, and still trusts the previous authority. */
export class WebhookCertificate extends Construct {
  constructor(scope: Construct, id: string, installation: Installation, delivered: DeliveredCertificate) {
    super(scope, id);
    const { name, namespace } = installation;
    new ApiObject(this, 'secret', {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: `${name}${suffixes.certificates}`, namespace, labels: labels(installation, 'webhook') },
      type: 'kubernetes.io/tls',
      data: {
        [certificateFiles.certificate]: delivered.certificate,
        [certificateFiles.key]: delivered.key,
        [certificateFiles.authority]: delivered.authority,
      },
    });
  }
}
