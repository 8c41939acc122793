import { workloadKinds, type WorkloadKind } from '../../runtime/contract.ts';
import type { KubernetesObject } from '../../runtime/kubernetes/resources/objects.ts';
import { completionOf } from '../../runtime/rollout/completion.ts';
import type { Bench } from './bench.ts';
import { eventually } from './eventually.ts';
import { workloadOf } from './workloads.ts';

export const REPLICAS = 2;

export interface RunningOptions {
  /** Default: a Deployment. */
  readonly kind?: WorkloadKind;
  /** Merged into its spec, which has two replicas. */
  readonly spec?: object;
}

/** Creates a workload whose pods its own controller makes. */
export function createRunning(
  bench: Bench,
  namespace: string,
  name: string,
  { kind = workloadKinds.deployment, spec = {} }: RunningOptions = {},
): Promise<KubernetesObject> {
  const manifest = workloadOf(kind, namespace, name);
  const counted = kind.pods === undefined || kind.pods === 'nodes' ? {} : { replicas: REPLICAS };
  return bench.create({ ...manifest, spec: { ...(manifest['spec'] as object), ...counted, ...spec } });
}

/** Waits until a workload's own controller says that its pods are there and available; those without pods are at once. */
export const whenComplete = (bench: Bench, kind: WorkloadKind, namespace: string, name: string): Promise<void> =>
  eventually(async () => {
    const { kind: found } = completionOf(await bench.get(kind, namespace, name));
    if (found === 'progressing') throw new Error(`${kind.kind} ${name} is ${found}`);
  });
