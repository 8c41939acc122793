import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import type { Settings } from '../settings/schema.ts';
import { firstWave, labels, type Installation } from './labels.ts';

export type OperatorNamespaceProps = Installation & Pick<Settings, 'hostNetwork'>;

const getPodSecurity = ({ hostNetwork }: OperatorNamespaceProps): string => (hostNetwork ? 'privileged' : 'restricted');

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
