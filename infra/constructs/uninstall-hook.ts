import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { suffixes } from '../../runtime/contract.ts';
import type { Settings } from '../settings-schema.ts';
import { imageReference } from './image.ts';
import { labels, optOut } from './labels.ts';
import { containerSecurity, podSecurity } from './pod.ts';
import { managerEnvironment } from './runtime-environment.ts';

const DEADLINE_SECONDS = 280;

/**
 * Runs before Helm deletes the release, while everything is there still: deletes the Lumigo resources and waits until
 * nothing is instrumented any more. What fails here fails `helm delete`, and nothing is left half-done.
 */
export class UninstallHook extends Construct {
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const { name, namespace } = settings;
    const common = labels(settings, 'uninstall');
    const { image, resources } = settings.controllerManager.manager;
    new ApiObject(this, 'job', {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        name: `${name}${suffixes.uninstall}`,
        namespace,
        labels: { ...common, ...optOut },
        annotations: {
          'helm.sh/hook': 'pre-delete',
          'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
        },
      },
      spec: {
        backoffLimit: 1,
        activeDeadlineSeconds: DEADLINE_SECONDS + 20,
        template: {
          metadata: { labels: { ...common, ...optOut } },
          spec: {
            restartPolicy: 'Never',
            serviceAccountName: `${name}${suffixes.manager}`,
            automountServiceAccountToken: true,
            enableServiceLinks: false,
            securityContext: podSecurity(settings),
            imagePullSecrets: settings.imagePullSecrets,
            nodeSelector: settings.nodeSelector,
            tolerations: settings.tolerations,
            affinity: settings.affinity,
            containers: [
              {
                name: 'uninstall',
                image: imageReference(image),
                imagePullPolicy: 'IfNotPresent',
                args: ['--uninstall', '--deadline', String(DEADLINE_SECONDS)],
                env: managerEnvironment(settings, 'Helm'),
                resources,
                securityContext: containerSecurity,
              },
            ],
          },
        },
      },
    });
  }
}
