import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { suffixes } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import { labels, optOut } from './labels.ts';
import { operatorContainer, operatorPod } from './pod.ts';

const component = 'uninstall';

/**
 * A Job that Helm runs before the release is deleted, while everything is there still, with the operator's own program, account and
 * environment: it deletes the Lumigo resources and waits until nothing is instrumented any more. What fails here fails `helm delete`,
 * and nothing is left half-done.
 */
export class HelmHooks extends Construct {
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const all = { ...labels(settings, component), ...optOut };
    const args = ['--uninstall', '--leave-refusing', '--deadline', '280'];
    new ApiObject(this, component, {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        name: `${settings.name}${suffixes.uninstall}`,
        namespace: settings.namespace,
        labels: all,
        annotations: {
          'helm.sh/hook': 'pre-delete',
          'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
        },
      },
      spec: {
        backoffLimit: 1,
        activeDeadlineSeconds: 300,
        template: {
          metadata: { labels: all },
          spec: {
            restartPolicy: 'Never',
            ...operatorPod(settings, 'uninstallHook'),
            containers: [{ name: component, ...operatorContainer(settings, 'Helm'), args }],
          },
        },
      },
    });
  }
}
