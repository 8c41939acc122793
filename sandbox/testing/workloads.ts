import { workloadKinds, workloads, type WorkloadKind } from '../../runtime/contract.ts';
import type { Workload } from '../../runtime/api/objects.ts';
import type { KubernetesObject, Manifest } from '../../runtime/kubernetes/resources/objects.ts';
import { completionOf } from '../../runtime/rollout/completion.ts';
import { eventually } from './eventually.ts';

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

/** A part of a test cluster. */
interface Workloads {
  create(manifest: Manifest): Promise<KubernetesObject>;
  get(kind: WorkloadKind, namespace: string, name: string): Promise<Workload>;
}

export const REPLICAS = 2;

export interface RunningOptions {
  /** Default: a Deployment. */
  readonly kind?: WorkloadKind;
  /** Merged into its spec, which has two replicas. */
  readonly spec?: object;
}

/** Creates a workload whose pods its own controller makes. */
export function createRunning(
  bench: Pick<Workloads, 'create'>,
  namespace: string,
  name: string,
  { kind = workloadKinds.deployment, spec = {} }: RunningOptions = {},
): Promise<KubernetesObject> {
  const manifest = workloadOf(kind, namespace, name);
  const counted = kind.pods === undefined || kind.pods === 'nodes' ? {} : { replicas: REPLICAS };
  return bench.create({ ...manifest, spec: { ...(manifest['spec'] as object), ...counted, ...spec } });
}

/** Waits until a workload's own controller says that its pods are there and available; those without pods are at once. */
export const whenComplete = (
  bench: Pick<Workloads, 'get'>,
  kind: WorkloadKind,
  namespace: string,
  name: string,
): Promise<void> =>
  eventually(async () => {
    const { kind: found } = completionOf(await bench.get(kind, namespace, name));
    if (found === 'progressing') throw new Error(`${kind.kind} ${name} is ${found}`);
  });
