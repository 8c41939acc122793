import { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import { suffixes } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import { labels, optOut } from './labels.ts';
import { operatorContainer, operatorPod, podMetadata, type JsonObject } from './pod.ts';

interface HelmJob {
  /** Also the suffix of the Job's name, and the name of the container. */
  readonly component: 'check' | 'uninstall';
  readonly annotations: Readonly<Record<string, string>>;
  readonly deadlineSeconds: number;
  /** The arguments of the operator's program. */
  readonly args: readonly string[];
  /** Fields of the pod that differ from those of the operator. */
  readonly pod?: JsonObject;
}

/** Adds a Job that Helm creates as a hook, and that runs the operator's program once. */
export function addHelmJob(
  scope: Construct,
  settings: Settings,
  { component, annotations, deadlineSeconds, args, pod }: HelmJob,
): void {
  const own = { ...labels(settings, component), ...optOut };
  new ApiObject(scope, component, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: `${settings.name}${suffixes[component]}`,
      namespace: settings.namespace,
      labels: own,
      annotations,
    },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: deadlineSeconds,
      template: {
        metadata: podMetadata(settings, own, component),
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
