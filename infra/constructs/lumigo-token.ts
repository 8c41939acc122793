import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import type { Settings } from '../settings/schema.ts';
import { labels } from './labels.ts';

/** The Secret with the token of the settings. The manager copies it to the monitored namespaces. */
export class LumigoToken extends Construct {
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const { namespace, lumigoToken } = settings;
    if (lumigoToken.value === '') return;
    new k8s.KubeSecret(this, 'secret', {
      metadata: { name: lumigoToken.secretName, namespace, labels: labels(settings, 'token') },
      stringData: { [lumigoToken.secretKey]: lumigoToken.value },
    });
  }
}
