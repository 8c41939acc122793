import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import type { Settings } from '../settings/schema.ts';
import { labels, type Installation } from './labels.ts';

export type LumigoTokenProps = Installation & Pick<Settings, 'lumigoToken'>;

/** The token that the settings hold, if they do, from where the manager brings it to the namespaces that they monitor. */
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
