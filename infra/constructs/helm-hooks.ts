import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { suffixes } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import { labels, optOut } from './labels.ts';
import { operatorContainer, operatorPod } from './pod.ts';

/** A Job that Helm runs at a moment of the release's life, with the operator's own program, account and environment. */
interface Hook {
  readonly component: 'uninstall';
  readonly annotations: Readonly<Record<string, string>>;
  readonly args: readonly string[];
  readonly deadlineSeconds: number;
}

const whenDone = { 'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded' };

/**
 * Before the release is deleted, while everything is there still: deletes the Lumigo resources and waits until nothing is
 * instrumented any more. What fails here fails `helm delete`, and nothing is left half-done.
 */
const uninstall: Hook = {
  component: 'uninstall',
  annotations: { 'helm.sh/hook': 'pre-delete', ...whenDone },
  args: ['--uninstall', '--leave-refusing', '--deadline', '280'],
  deadlineSeconds: 300,
};

export class HelmHooks extends Construct {
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    addJob(this, settings, uninstall);
  }
}

function addJob(scope: Construct, settings: Settings, { component, annotations, args, deadlineSeconds }: Hook): void {
  const all = { ...labels(settings, component), ...optOut };
  new ApiObject(scope, component, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: `${settings.name}${suffixes[component]}`,
      namespace: settings.namespace,
      labels: all,
      annotations: { ...annotations },
    },
    spec: {
      backoffLimit: 1,
      activeDeadlineSeconds: deadlineSeconds,
      template: {
        metadata: { labels: all },
        spec: {
          restartPolicy: 'Never',
          ...operatorPod(settings, 'uninstallHook'),
          containers: [{ name: component, ...operatorContainer(settings, 'Helm'), args: [...args] }],
        },
      },
    },
  });
}
