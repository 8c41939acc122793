import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import type { Settings } from '../settings/schema.ts';
import { firstWave, labels, type Installation } from './labels.ts';

export type OperatorNamespaceProps = Installation & Pick<Settings, 'hostNetwork' | 'clusterCollection'>;

/** Log files and, with all metrics of a node, its folders are outside of the pod. */
const readsNode = ({ clusterCollection: { logs, metrics } }: OperatorNamespaceProps): boolean =>
  logs.enabled || (metrics.enabled && !metrics.essentialOnly);

const getPodSecurity = (props: OperatorNamespaceProps): string =>
  props.hostNetwork || readsNode(props) ? 'privileged' : 'restricted';

/** The operator's namespace, which enforces the strictest Pod Security Standard that the operator's pods meet. */
export class OperatorNamespace extends Construct {
  constructor(scope: Construct, id: string, props: OperatorNamespaceProps) {
    super(scope, id);
    new k8s.KubeNamespace(this, 'namespace', {
      metadata: {
        name: props.namespace,
        annotations: firstWave,
        labels: { ...labels(props, 'namespace'), 'pod-security.kubernetes.io/enforce': getPodSecurity(props) },
      },
    });
  }
}
