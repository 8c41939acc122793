import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import type { Settings } from '../settings/schema.ts';
import { labels } from './labels.ts';
import { syncWaves } from './sync-waves.ts';

/** The strictest Pod Security Standard that the operator's pods keep to. */
const podSecurityOf = ({ hostNetwork }: Settings): string => (hostNetwork ? 'privileged' : 'restricted');

/** The operator's own namespace. It takes in only pods of the Pod Security Standard that the operator's keep to. */
export class OperatorNamespace extends Construct {
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    new k8s.KubeNamespace(this, 'namespace', {
      metadata: {
        name: settings.namespace,
        annotations: syncWaves.foundations,
        labels: { ...labels(settings, 'namespace'), 'pod-security.kubernetes.io/enforce': podSecurityOf(settings) },
      },
    });
  }
}
