import type { Settings } from '../settings/schema.ts';
import { operatorContainer, operatorPod, podMetadata, type JsonObject } from './pod.ts';

interface HelmJob {
  /** Also the name of the container. */
  readonly component: string;
  readonly labels: object;
  readonly deadlineSeconds: number;
  /** The arguments of the operator's program. */
  readonly args: readonly string[];
  /** Fields of the pod that differ from those of the operator. */
  readonly pod?: JsonObject;
}

/** Returns the spec of a Job that Helm creates as a hook, and that runs the operator's program once. */
export const helmJobSpec = (
  settings: Settings,
  { component, labels, deadlineSeconds, args, pod = {} }: HelmJob,
): JsonObject => ({
  backoffLimit: 0,
  activeDeadlineSeconds: deadlineSeconds,
  template: {
    metadata: podMetadata(settings, labels, component),
    spec: {
      restartPolicy: 'Never',
      ...operatorPod(settings, 'uninstallHook'),
      ...pod,
      containers: [{ name: component, ...operatorContainer(settings, 'Helm'), args }],
    },
  },
});
