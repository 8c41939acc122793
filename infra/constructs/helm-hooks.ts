import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { suffixes } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import { helmJobSpec } from './helm-job.ts';
import { labels, optOut } from './labels.ts';

const component = 'uninstall';

/** `helm delete` waits for 300 s. The Job ends earlier, so Helm shows its reason. */
const DEADLINE_SECONDS = 270;
const JOB_DEADLINE_SECONDS = 300;

/** A Job that Helm runs before it deletes the release. If it fails, `helm delete` fails and deletes nothing. */
export class HelmHooks extends Construct {
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const all = { ...labels(settings, component), ...optOut };
    const args = ['uninstall', '--helm-hook', '--deadline', String(DEADLINE_SECONDS)];
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
      spec: helmJobSpec(settings, { component, labels: all, deadlineSeconds: JOB_DEADLINE_SECONDS, args }),
    });
  }
}
