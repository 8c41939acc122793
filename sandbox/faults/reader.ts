import {
  CoordinationV1Api,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  type CoreV1Event,
  type V1Lease,
} from '@kubernetes/client-node';
import { labels, lumigo, workloadKinds } from '../../runtime/contract.ts';
import { isOurs } from '../../runtime/injection/label.ts';
import type { Workload } from '../../runtime/api/objects.ts';
import type { LumigoResource } from '../../runtime/api/lumigo.ts';
import type { ResourceRef } from '../../runtime/kubernetes/http/paths.ts';
import { eventually } from '../testing/eventually.ts';

const { deployment } = workloadKinds;

/** The content of a namespace at a moment. */
export interface Look {
  readonly atMs: number;
  readonly workloads: readonly Workload[];
  readonly lumigoes: readonly LumigoResource[];
  readonly events: readonly CoreV1Event[];
}

/** Reads a cluster with Kubernetes' own client, so a defect of the operator's client hides nothing from the checks. */
export function createReader(kubeconfig: string) {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const objects = config.makeApiClient(CustomObjectsApi);
  const core = config.makeApiClient(CoreV1Api);
  const coordination = config.makeApiClient(CoordinationV1Api);
  /** Raw JSON, because the typed methods drop unknown fields. It retries, because a restarted API server resets idle connections. */
  const list = <T>(resource: ResourceRef, namespace: string, labelSelector = ''): Promise<T[]> =>
    eventually(async () => {
      const found: unknown = await objects.listNamespacedCustomObject({ ...resource, namespace, labelSelector });
      return (found as { readonly items: T[] }).items;
    });
  return {
    async look(namespace: string): Promise<Look> {
      const atMs = Date.now();
      const workloads = await list<Workload>(deployment, namespace);
      const lumigoes = await list<LumigoResource>(lumigo, namespace);
      const { items } = await eventually(() => core.listNamespacedEvent({ namespace }));
      return {
        atMs,
        workloads: workloads.map((each) => ({ ...deployment, ...each })),
        lumigoes,
        events: items.filter(({ reason }) => reason?.startsWith('Lumigo')),
      };
    },
    async instrumented(namespace: string): Promise<number> {
      const labelled = await list<Workload>(deployment, namespace, labels.autoTrace);
      return labelled.filter(({ metadata }) => isOurs(metadata.labels?.[labels.autoTrace])).length;
    },
    lease: (namespace: string, name: string): Promise<V1Lease> => coordination.readNamespacedLease({ namespace, name }),
    async hasNamespace(name: string): Promise<boolean> {
      const { items } = await core.listNamespace();
      return items.some(({ metadata }) => metadata?.name === name);
    },
  };
}

/** Returns the events that warn. A program that fails with the injection is an expected warning. */
export const getWarnings = ({ events }: Look): readonly CoreV1Event[] =>
  events.filter(({ type, reason }) => type === 'Warning' && reason !== 'LumigoRevertedInstrumentation');
