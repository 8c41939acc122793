import { workloadKinds, workloads, type WorkloadKind } from '../../runtime/contract.ts';
import type { Workload } from '../../runtime/api/objects.ts';
import { toTemplate } from '../../runtime/injection/workload.ts';
import type { KubernetesObject, Manifest } from '../../runtime/kubernetes/resources/objects.ts';
import { getCompletion } from '../../runtime/rollout/completion.ts';
import { eventually } from './eventually.ts';

export interface WorkloadOptions {
  readonly labels?: Readonly<Record<string, string>>;
  readonly podLabels?: Readonly<Record<string, string>>;
  readonly env?: readonly object[];
  readonly pod?: object;
}

/** Returns the smallest valid workload of a kind: one container, and no replicas if the kind has a number of them. */
export function createWorkload(
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
    spec: getSpec(kind.kind, name, template),
  };
}

function getSpec(kind: string, name: string, template: object): object {
  const selected = { selector: { matchLabels: { app: name } }, template };
  switch (kind) {
    case 'CronJob':
      return { schedule: '0 3 1 1 *', jobTemplate: { spec: { template } } };
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

/** The six built-in kinds as a table for `it.each`: name and kind. */
export const everyKind = workloads.filter(({ addOn }) => addOn === undefined).map((kind) => [kind.kind, kind] as const);

export const mutableKinds = everyKind.filter(([, { mutable }]) => mutable);

export const getPod = (namespace: string, name: string, labels: Readonly<Record<string, string>> = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace, name, labels },
  spec: { containers: [{ name: 'app', image: 'app:1' }], automountServiceAccountToken: false },
});

/** Kubernetes' controllers write these annotations. */
const CONTROLLERS = /^(deployment\.kubernetes\.io\/|deprecated\.daemonset\.)/;

/** Returns the parts of a workload that the operator may change, as text: equal texts mean equal bytes. */
export function getBytes(workload: Workload): string {
  const { labels = {}, annotations = {} } = workload.metadata;
  const own = Object.entries(annotations).filter(([key]) => !CONTROLLERS.test(key));
  return JSON.stringify([labels, Object.fromEntries(own), toTemplate(workload)]);
}

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

/** @param more merged into the spec */
export function withReplicas(kind: WorkloadKind, workload: Manifest, more: object = {}): Manifest {
  const counted = kind.pods === undefined || kind.pods === 'nodes' ? {} : { replicas: REPLICAS };
  return { ...workload, spec: { ...(workload['spec'] as object), ...counted, ...more } };
}

export const createRunning = (
  bench: Pick<Workloads, 'create'>,
  namespace: string,
  name: string,
  { kind = workloadKinds.deployment, spec = {} }: RunningOptions = {},
): Promise<KubernetesObject> => bench.create(withReplicas(kind, createWorkload(kind, namespace, name), spec));

/** Waits until the controller reports available pods. A workload without pods is complete at once. */
export const waitForComplete = (
  bench: Pick<Workloads, 'get'>,
  kind: WorkloadKind,
  namespace: string,
  name: string,
): Promise<void> =>
  eventually(async () => {
    const { kind: found } = getCompletion(await bench.get(kind, namespace, name));
    if (found === 'progressing') throw new Error(`${kind.kind} ${name} is ${found}`);
  });
