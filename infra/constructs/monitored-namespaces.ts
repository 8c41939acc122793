import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { Lumigo } from '../../imports/operator.lumigo.io.ts';
import { lumigo } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import { labels } from './labels.ts';
import { syncWaves } from './sync-waves.ts';

/** A Lumigo resource for each namespace that the settings name and, where they hold the token, the Secret that it refers to. */
export class MonitoredNamespaces extends Construct {
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const { lumigoToken } = settings;
    for (const { namespace, tracingEnabled, loggingEnabled, ...own } of settings.monitoredNamespaces) {
      const name = own.secretName === '' ? lumigoToken.secretName : own.secretName;
      const key = own.secretKey === '' ? lumigoToken.secretKey : own.secretKey;
      const common = labels(settings, 'monitored-namespace');
      if (lumigoToken.value !== '')
        new k8s.KubeSecret(this, `${namespace}-token`, {
          metadata: { name, namespace, labels: common },
          stringData: { [key]: lumigoToken.value },
        });
      new Lumigo(this, namespace, {
        metadata: { name: lumigo.singular, namespace, labels: common, annotations: syncWaves.lumigoes },
        spec: {
          lumigoToken: { secretRef: { name, key } },
          tracing: { enabled: tracingEnabled },
          logging: { enabled: loggingEnabled },
        },
      });
    }
  }
}
