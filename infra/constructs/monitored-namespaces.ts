import { Construct } from 'constructs';
import { Lumigo } from '../../imports/operator.lumigo.io.ts';
import { lumigo } from '../../runtime/contract.ts';
import type { Settings } from '../settings-schema.ts';
import { labels } from './labels.ts';

/**
 * A Lumigo resource for each namespace that the settings name. It refers to a Secret that is there already or comes by
 * another way: no token passes through these manifests.
 */
export class MonitoredNamespaces extends Construct {
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    for (const { namespace, secretName, secretKey } of settings.monitoredNamespaces)
      new Lumigo(this, namespace, {
        metadata: { name: lumigo.singular, namespace, labels: labels(settings, 'monitored-namespace') },
        spec: { lumigoToken: { secretRef: { name: secretName, key: secretKey } } },
      });
  }
}
