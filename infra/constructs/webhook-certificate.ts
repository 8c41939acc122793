import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { certificateFiles, suffixes } from '../../runtime/contract.ts';
import { labels, type Installation } from './labels.ts';

export interface DeliveredCertificate {
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
}

export interface WebhookCertificateProps extends Installation {
  readonly delivered: DeliveredCertificate;
}

/** The operator adds the authority to the webhook before it serves the certificate, and still trusts the previous authority. */
export class WebhookCertificate extends Construct {
  readonly secretName: string;

  constructor(scope: Construct, id: string, props: WebhookCertificateProps) {
    super(scope, id);
    const { certificate, key, authority } = props.delivered;
    this.secretName = `${props.name}${suffixes.certificates}`;
    new ApiObject(this, 'secret', {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: this.secretName, namespace: props.namespace, labels: labels(props, 'webhook') },
      type: 'kubernetes.io/tls',
      data: {
        [certificateFiles.certificate]: certificate,
        [certificateFiles.key]: key,
        [certificateFiles.authority]: authority,
      },
    });
  }
}
