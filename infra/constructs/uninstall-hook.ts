import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { suffixes } from '../../runtime/contract.ts';
import type { Settings } from '../settings-schema.ts';
import { labels, optOut } from './labels.ts';
import { operatorContainer, operatorPod } from './pod.ts';

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
            ...operatorPod(settings),
            containers: [
              {
                name: 'uninstall',
                ...operatorContainer(settings, 'Helm'),
                args: ['--uninstall', '--deadline', String(DEADLINE_SECONDS)],
              },
            ],
          },
        },
      },
    });
  }
}
