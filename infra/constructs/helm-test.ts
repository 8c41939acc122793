import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { probeNamespace, suffixes } from '../../runtime/contract.ts';
import { checkPermissions } from '../../runtime/access/check-permissions.ts';
import type { Settings } from '../settings/schema.ts';
import { addHelmJob } from './helm-job.ts';
import { labels, optOut } from './labels.ts';
import { grant } from './rights.ts';

/** `helm test` waits for 300 s. The Job ends earlier, so its log has the result. */
const WAIT_SECONDS = 120;
const JOB_DEADLINE_SECONDS = 240;

/** `helm test`: a Job that runs `lumigo check`. Its account and rights exist only during the test. */
export class HelmTest extends Construct {
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const { namespace } = settings;
    const name = `${settings.name}${suffixes.check}`;
    const metadata = { name, labels: { ...labels(settings, 'check'), ...optOut }, annotations: hook(-1) };
    new k8s.KubeServiceAccount(this, 'account', {
      metadata: { ...metadata, namespace },
      automountServiceAccountToken: false,
    });
    grant(this, settings, { metadata, granted: checkPermissions.check, account: name });
    grant(this, settings, {
      metadata: { ...metadata, namespace: probeNamespace },
      granted: checkPermissions.checkProbe,
      account: name,
    });
    addHelmJob(this, settings, {
      component: 'check',
      // The flag `--logs` works for pods only.
      annotations: { ...hook(0), 'helm.sh/hook-output-log-policy': 'hook-succeeded,hook-failed' },
      deadlineSeconds: JOB_DEADLINE_SECONDS,
      args: ['check', '--wait', String(WAIT_SECONDS)],
      pod: { serviceAccountName: name },
    });
  }
}

/** Lower weights are created first. A failed Job stays, so that its log can be read. */
const hook = (weight: number) => ({
  'helm.sh/hook': 'test',
  'helm.sh/hook-weight': String(weight),
  'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
});
