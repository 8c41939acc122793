import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { updaterKinds } from '../../runtime/config/config.ts';
import type { Settings } from '../settings/schema.ts';
import { whySuspended } from '../settings/updater-state.ts';
import { operatorVersion } from '../settings/version.ts';
import { configured, environmentWith } from './configuration.ts';
import { optOut } from './labels.ts';
import type { Manifest } from './manifest.ts';
import { containerOf, operatorPod, podMetadata } from './pod.ts';

/** Upgrade and rollback wait for a day at most each. A pod that cannot start must not prevent later runs for good. */
const TWO_DAYS = 48 * 3_600 + 1_800;

export class UpdaterJob extends Construct {
  constructor(scope: Construct, id: string, settings: Settings, metadata: Manifest['metadata']) {
    super(scope, id);
    const own = { ...metadata.labels, ...optOut };
    new ApiObject(this, 'cron-job', {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { ...metadata, labels: own },
      spec: {
        schedule: settings.updater.schedule,
        // By default it is kube-controller-manager's time zone.
        timeZone: 'Etc/UTC',
        suspend: whySuspended(settings.updater) !== undefined,
        concurrencyPolicy: 'Forbid',
        startingDeadlineSeconds: 3_600,
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 3,
        jobTemplate: {
          spec: {
            // A failed upgrade was rolled back, and each attempt restarts the operator. The next run is the next attempt.
            backoffLimit: 0,
            activeDeadlineSeconds: TWO_DAYS,
            template: { metadata: podMetadata(settings, own, 'updater'), spec: podSpec(settings, metadata.name) },
          },
        },
      },
    });
  }
}

const keyringMount = { name: 'keyring', mountPath: '/etc/lumigo/keyring', readOnly: true } as const;

function podSpec(settings: Settings, serviceAccountName: string) {
  const keyring = settings.updater.verify.keyringSecret;
  return {
    ...operatorPod(settings, 'updater'),
    serviceAccountName,
    restartPolicy: 'Never',
    // On a termination signal, Helm reverts the upgrade that it began.
    terminationGracePeriodSeconds: 120,
    containers: [
      {
        name: 'updater',
        ...containerOf(settings, settings.updater),
        args: ['update'],
        env: environment(settings),
        volumeMounts: [{ name: 'temporary', mountPath: '/tmp' }, ...(keyring === '' ? [] : [keyringMount])],
      },
    ],
    volumes: [
      { name: 'temporary', emptyDir: { sizeLimit: '256Mi' } },
      // With an optional Secret, Helm reports that it is missing. Otherwise the pod would wait without a message.
      ...(keyring === '' ? [] : [{ name: keyringMount.name, secret: { secretName: keyring, optional: true } }]),
    ],
  };
}

function environment(settings: Settings) {
  const { mode, repository, verify } = settings.updater;
  return environmentWith(
    configured(updaterKinds, settings, {
      version: operatorVersion(),
      mode: mode === 'upgrade' ? 'upgrade' : 'check',
      repository: whySuspended(settings.updater) === undefined ? repository : '',
      keyring: verify.keyringSecret === '' ? '' : `${keyringMount.mountPath}/keyring.gpg`,
      logLevel: settings.debug.enabled ? 'debug' : 'info',
    }),
  );
}
