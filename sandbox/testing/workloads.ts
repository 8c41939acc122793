import { workloads, type WorkloadKind } from '../../runtime/contract.ts';
import type { Manifest } from '../../runtime/kubernetes/resources/objects.ts';

export interface WorkloadOptions {
  /** Labels of the object itself. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Labels of the pod template, beside `app`. */
  readonly podLabels?: Readonly<Record<string, string>>;
  readonly env?: readonly object[];
  /** Merged into the pod's spec. */
  readonly pod?: object;
}

/** The smallest valid workload of a kind: one container, no replicas where the kind has a number of them. */
export function workloadOf(
  kind: Pick<WorkloadKind, 'apiVersion' | 'kind'>,
  namespace: string,
  name: string,
  options: WorkloadOptions = {},
): Manifest {
  const { labels = {}, podLabels = {}, env, pod = {} } = options;
  const batch = kind.apiVersion === 'batch/v1';
  const template = {
    metadata: { labels: { app: name, ...podLabels } },
    spec: {
      containers: [{ name: 'app', image: 'app:1', ...(env === undefined ? {} : { env }) }],
      ...(batch ? { restartPolicy: 'Never' } : {}),
      ...pod,
    },
  };
  return {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    metadata: { namespace, name, labels: { app: name, ...labels } },
    spec: specOf(kind.kind, name, template),
  };
}

function specOf(kind: string, name: string, template: object): object {
  const selected = { selector: { matchLabels: { app: name } }, template };
  switch (kind) {
    case 'CronJob':
      return { schedule: '0 3 * * *', jobTemplate: { spec: { template } } };
    case 'Job':
      return { template };
    case 'DaemonSet':
      return selected;
    case 'StatefulSet':
      return { ...selected, replicas: 0, serviceName: name };
    default:
      return { ...selected, replicas: 0 };
  }
}

/** The six kinds that every API server has as a table for `it.each`: name and kind. */
export const everyKind = workloads.filter(({ addOn }) => addOn === undefined).map((kind) => [kind.kind, kind] as const);

/** Those whose template can change. */
export const mutableKinds = everyKind.filter(([, { mutable }]) => mutable);

/** A pod by itself, as a controller would make it. */
export const podOf = (namespace: string, name: string, labels: Readonly<Record<string, string>> = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace, name, labels },
  spec: { containers: [{ name: 'app', image: 'app:1' }], automountServiceAccountToken: false },
});
