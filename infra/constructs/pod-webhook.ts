import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { suffixes } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import { labels } from './labels.ts';

/**
 * The configuration in which the operator keeps its webhook for pods. No webhook stands in it: there is one for as long as a Lumigo is
 * in Pod mode, and for those namespaces only (runtime/webhook/pod-scope.ts). So no tool that applies these manifests sees a
 * difference, whatever stands there, and the operator need not be allowed to create configurations, which no rule could bind to a name.
 */
export class PodWebhook extends Construct {
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    new ApiObject(this, 'configuration', {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: `${settings.name}${suffixes.podWebhook}`, labels: labels(settings, 'webhook') },
    });
  }
}
