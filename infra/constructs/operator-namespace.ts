import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import type { Settings } from '../settings/schema.ts';
import { firstWave, labels } from './labels.ts';

/** The operator's namespace, which enforces the strictest Pod Security Standard that the operator's pods meet. */
export class OperatorNamespace extends Construct {
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const { logs, metrics } = settings.clusterCollection;
    // Log files and, with all metrics of a node, its folders are outside of the pod.
    const readsNode = logs.enabled || (metrics.enabled && !metrics.essentialOnly);
    const podSecurity = settings.hostNetwork || readsNode ? 'privileged' : 'restricted';
    new k8s.KubeNamespace(this, 'namespace', {
      metadata: {
        name: settings.namespace,
        annotations: {
          ...firstWave,
          // With `createNamespace: false`, Argo CD would delete it, and the operator would uninstall itself.
          'argocd.argoproj.io/sync-options': 'Prune=false',
          'argocd.argoproj.io/compare-options': 'IgnoreExtraneous',
        },
        labels: { ...labels(settings, 'namespace'), 'pod-security.kubernetes.io/enforce': podSecurity },
      },
    });
  }
}
