import { pods, workloadKinds, type WorkloadKind } from '../../runtime/contract.ts';
import type { PodTemplate, Workload } from '../../runtime/injection/types.ts';
import { listAll } from '../../runtime/kubernetes/http/client.ts';
import { undefinedIfNotFound } from '../../runtime/kubernetes/http/errors.ts';
import type { Bench } from './bench.ts';
import { workloadOf } from './workloads.ts';

const { deployment } = workloadKinds;

/** What becomes of a pod's containers. */
export type Outcome = 'ready' | 'unready' | 'no-injector-image' | 'crashes';

interface PodOf {
  readonly name: string;
  readonly hash: string;
  readonly index: number;
  readonly outcome: Outcome;
}

/** By which pods of a kind's ReplicaSets show which of them they are of. */
const hashLabels: Readonly<Record<string, string>> = {
  Deployment: 'pod-template-hash',
  Rollout: 'rollouts-pod-template-hash',
};

/** What the controller of a Deployment (or of a Rollout) and a kubelet would do, done by hand where neither runs: pods of its template, and its status. */
export class PodsByHand {
  private revisions = 0;

  constructor(
    private readonly bench: Bench,
    readonly namespace: string,
    private readonly kind: WorkloadKind = deployment,
  ) {}

  /** A workload that runs, as its status says. */
  async deployment(name: string, replicas = 2): Promise<void> {
    const manifest = workloadOf(this.kind, this.namespace, name);
    await this.bench.create({ ...manifest, spec: { ...(manifest['spec'] as object), replicas } });
    await this.settle(name);
  }

  /** Its status says that all pods of its present template are ready, or (`ready`) so many. */
  async settle(name: string, ready?: number): Promise<void> {
    const seen = await this.bench.get(this.kind, this.namespace, name);
    const { replicas } = seen['spec'] as { replicas: number };
    const status = {
      ...{ observedGeneration: this.generation(seen), replicas, updatedReplicas: replicas },
      ...{ readyReplicas: ready ?? replicas, availableReplicas: ready ?? replicas },
    };
    await this.bench.setStatus({ ...this.kind, namespace: this.namespace, name }, status);
  }

  /** Argo's Rollouts have a text there. */
  private generation = ({ metadata: { generation } }: Workload) =>
    this.kind.kind === 'Rollout' ? String(generation) : generation;

  /** Pods of its present template, of which this becomes. */
  async start(name: string, outcome: Outcome, replicas = 2): Promise<void> {
    const template = await this.bench.templateOf(this.kind, this.namespace, name);
    this.revisions += 1;
    const hash = `r${this.revisions}`;
    for (let index = 0; index < replicas; index += 1) await this.pod({ name, hash, index, outcome }, template);
  }

  /** Its pods are gone. */
  async end(name: string): Promise<void> {
    const { client } = this.bench;
    const ref = { ...pods, namespace: this.namespace };
    for (const { metadata } of await listAll(client, ref, { labelSelector: `app=${name}` }))
      await client.delete({ ...ref, name: metadata.name }).catch(undefinedIfNotFound);
  }

  private async pod({ name, hash, index, outcome }: PodOf, { metadata, spec }: PodTemplate): Promise<void> {
    const { namespace } = this;
    const pod = `${name}-${hash}-${index}`;
    const label = hashLabels[this.kind.kind];
    const owned =
      label === undefined ? { kind: this.kind.kind, name } : { kind: 'ReplicaSet', name: `${name}-${hash}` };
    const owner = { apiVersion: 'apps/v1', ...owned, uid: hash, controller: true };
    await this.bench.create({
      ...{ apiVersion: 'v1', kind: 'Pod' },
      metadata: {
        ...{ namespace, name: pod, annotations: metadata?.annotations ?? {} },
        labels: { ...metadata?.labels, ...(label === undefined ? {} : { [label]: hash }) },
        ownerReferences: [owner],
      },
      spec: { ...spec, automountServiceAccountToken: false },
    });
    const status = statuses[outcome](new Date().toISOString().replace(/\.\d+/, ''));
    await this.bench.setStatus({ ...pods, namespace, name: pod }, status);
  }
}

const container = (name: string, state: object, more: object = {}) => ({
  ...{ name, image: '', imageID: '', ready: false, restartCount: 0, state, ...more },
});

/** What a kubelet would say of a pod, at a time in ISO 8601 without fractions. */
export const statuses: Readonly<Record<Outcome, (now: string) => object>> = {
  ready: (now) => ({ conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: now }] }),
  unready: (now) => ({ conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: now }] }),
  'no-injector-image': () => ({
    initContainerStatuses: [
      container('lumigo-injector', { waiting: { reason: 'ImagePullBackOff', message: 'not found' } }),
    ],
  }),
  crashes: () => ({
    phase: 'Running',
    containerStatuses: [
      container(
        'app',
        { waiting: { reason: 'CrashLoopBackOff' } },
        { restartCount: 3, lastState: { terminated: { exitCode: 3, reason: 'Error', message: 'the last words' } } },
      ),
    ],
  }),
};
