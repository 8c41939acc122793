import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { suffixes } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import { labels, optOut } from './labels.ts';
import { operatorContainer, operatorPod } from './pod.ts';

const component = 'uninstall';

/** The Job ends before `helm delete` stops waiting, which is after 300 s: then Helm shows the reason. */
const DEADLINE_SECONDS = 270;
const JOB_DEADLINE_SECONDS = 300;

/**
 * A Job that Helm runs before it deletes the release, with the operator's own program, account and environment. It deletes the
 * `Lumigo` resources and waits until no workload is instrumented. If it fails, `helm delete` fails, shows the Job's log, and
 * deletes nothing. The Job does not run again by itself: a second `helm delete` repeats it.
 */
export class HelmHooks extends Construct {
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const all = { ...labels(settings, component), ...optOut };
    const args = ['uninstall', '--deadline', String(DEADLINE_SECONDS)];
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
          'helm.sh/hook-output-log-policy': 'hook-failed',
        },
      },
      spec: {
        backoffLimit: 0,
        activeDeadlineSeconds: JOB_DEADLINE_SECONDS,
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
