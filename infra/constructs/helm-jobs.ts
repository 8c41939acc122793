import { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { checkPermissions } from '../../runtime/access/check-permissions.ts';
import { probeNamespace, suffixes } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import { labels, optOut } from './labels.ts';
import { operatorContainer, operatorPod, podMetadata } from './pod.ts';
import { grant } from './rights.ts';

/** Helm waits for 300 s, also for the image. The program ends earlier, so Helm shows its reason, and the log of the test has its result. */
const UNINSTALL_SECONDS = 240;
const UNINSTALL_JOB_SECONDS = 300;
const CHECK_SECONDS = 120;
const CHECK_JOB_SECONDS = 240;

interface HelmJob {
  /** Also the suffix of the Job's name, and the name of the container. */
  readonly component: 'check' | 'uninstall';
  readonly annotations: Readonly<Record<string, string>>;
  readonly activeDeadlineSeconds: number;
  readonly args: readonly string[];
  /** Fields of the pod that differ from those of the operator. */
  readonly pod?: object;
}

/** The Jobs that Helm runs: one before it deletes the release, and one for `helm test`. Each runs the operator's program once. */
export class HelmJobs extends Construct {
  constructor(
    scope: Construct,
    id: string,
    private readonly settings: Settings,
  ) {
    super(scope, id);
    this.addUninstall();
    this.addCheck();
  }

  /** If this Job fails, `helm delete` fails and deletes nothing. */
  private addUninstall(): void {
    this.addJob({
      component: 'uninstall',
      annotations: {
        'helm.sh/hook': 'pre-delete',
        'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
        'helm.sh/hook-output-log-policy': 'hook-failed',
      },
      activeDeadlineSeconds: UNINSTALL_JOB_SECONDS,
      args: ['uninstall', '--helm-hook', '--deadline', String(UNINSTALL_SECONDS)],
    });
  }

  /** The account and the rights of `lumigo check` exist only during the test. */
  private addCheck(): void {
    const { settings } = this;
    const { namespace } = settings;
    const name = `${settings.name}${suffixes.check}`;
    const metadata = { name, labels: { ...labels(settings, 'check'), ...optOut }, annotations: testHook(-1) };
    new k8s.KubeServiceAccount(this, 'account', {
      metadata: { ...metadata, namespace },
      automountServiceAccountToken: false,
    });
    const { check, checkProbe } = checkPermissions;
    grant(this, settings, { metadata, granted: check, account: name });
    const ofProbe = { ...metadata, namespace: probeNamespace };
    grant(this, settings, { metadata: ofProbe, granted: checkProbe, account: name });
    this.addJob({
      component: 'check',
      // The flag `--logs` works for pods only.
      annotations: { ...testHook(0), 'helm.sh/hook-output-log-policy': 'hook-succeeded,hook-failed' },
      activeDeadlineSeconds: CHECK_JOB_SECONDS,
      args: ['check', '--wait', String(CHECK_SECONDS)],
      pod: { serviceAccountName: name },
    });
  }

  private addJob({ component, annotations, activeDeadlineSeconds, args, pod }: HelmJob): void {
    const { settings } = this;
    const ownLabels = { ...labels(settings, component), ...optOut };
    const name = `${settings.name}${suffixes[component]}`;
    new ApiObject(this, component, {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name, namespace: settings.namespace, labels: ownLabels, annotations },
      spec: {
        backoffLimit: 0,
        activeDeadlineSeconds,
        template: {
          metadata: podMetadata(settings, ownLabels, component),
          spec: {
            restartPolicy: 'Never',
            ...operatorPod(settings, 'uninstallHook'),
            ...pod,
            containers: [{ name: component, ...operatorContainer(settings, 'Helm'), args }],
          },
        },
      },
    });
  }
}

/** Lower weights are created first. A failed Job stays, so that its log can be read. */
const testHook = (weight: number) => ({
  'helm.sh/hook': 'test',
  'helm.sh/hook-weight': String(weight),
  'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
});
