import { Construct } from 'constructs';
import type { Settings } from '../settings/schema.ts';
import { addHelmJob } from './helm-job.ts';

/** `helm delete` waits for 300 s. The Job ends earlier, so Helm shows its reason. */
const DEADLINE_SECONDS = 270;
const JOB_DEADLINE_SECONDS = 300;

/** A Job that Helm runs before it deletes the release. If it fails, `helm delete` fails and deletes nothing. */
export class HelmHooks extends Construct {
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    addHelmJob(this, settings, {
      component: 'uninstall',
      annotations: {
        'helm.sh/hook': 'pre-delete',
        'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
        'helm.sh/hook-output-log-policy': 'hook-failed',
      },
      deadlineSeconds: JOB_DEADLINE_SECONDS,
      args: ['uninstall', '--helm-hook', '--deadline', String(DEADLINE_SECONDS)],
    });
  }
}
