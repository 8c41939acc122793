import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import type { Settings } from '../settings/schema.ts';
import { labels, type Installation } from './labels.ts';

export type LumigoTokenProps = Installation & Pick<Settings, 'lumigoToken'>;

/** The Secret with the token of the settings. The manager copies it to the monitored namespaces. */
export class LumigoToken extends Construct {
  constructor(scope: Construct, id: string, props: LumigoTokenProps) {
    super(scope, id);
    const { namespace, lumigoToken } = props;
    if (lumigoToken.value === '') return;
    new k8s.KubeSecret(this, 'secret', {
      metadata: { name: lumigoToken.secretName, namespace, labels: labels(props, 'token') },
      stringData: { [lumigoToken.secretKey]: lumigoToken.value },
    });
  }
}
