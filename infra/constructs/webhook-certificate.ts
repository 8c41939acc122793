import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { certificateFiles, suffixes } from '../../runtime/contract.ts';
import { labels, type Installation } from './labels.ts';

/** A certificate that whoever delivers the manifests has made: PEM in base64, and a text that differs for each. */
export interface DeliveredCertificate {
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
  readonly checksum: string;
}

export interface WebhookCertificateProps extends Installation {
  readonly delivered: DeliveredCertificate;
}

/**
 * The webhook's certificate, where the delivery makes it. Its authority is announced to the API server by the operator, before
 * it serves the certificate; so the authority of the one before stays trusted for as long as that is served.
 */
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
