import {
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  type CoreV1Event,
  type V1Lease,
  type V1Namespace,
} from '@kubernetes/client-node';
import { labels, lumigo, workloadKinds } from '../../runtime/contract.ts';
import { isOurs } from '../../runtime/injection/label.ts';
import type { Workload } from '../../runtime/api/objects.ts';
import type { LumigoResource } from '../../runtime/api/lumigo.ts';
import type { ResourceRef } from '../../runtime/kubernetes/http/paths.ts';
import { kinds } from '../../runtime/kubernetes/resources/kinds.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { eventually } from '../testing/eventually.ts';

const { deployment } = workloadKinds;
type ResourceType = Pick<ResourceRef, 'group' | 'version' | 'plural'>;

/** Reads a cluster with Kubernetes' own client, so a defect of the operator's client hides nothing from the checks. */
export type Reader = ReturnType<typeof createReader>;

export function createReader({ kubeconfig }: Pick<ControlPlane, 'kubeconfig'>) {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const objects = config.makeApiClient(CustomObjectsApi);
  const core = config.makeApiClient(CoreV1Api);
  /** Raw JSON, because the typed methods drop unknown fields. It retries, because a restarted API server resets idle connections. */
  const list = <T>(resource: ResourceType, namespace: string, labelSelector = ''): Promise<T[]> =>
    eventually(async () => {
      const found: unknown = await objects.listNamespacedCustomObject({ ...resource, namespace, labelSelector });
      return (found as { readonly items: T[] }).items;
    });
  const deployments = async (namespace: string, labelSelector?: string): Promise<Workload[]> =>
    (await list<Workload>(deployment, namespace, labelSelector)).map((each) => ({ ...deployment, ...each }));
  return {
    deployments,
    async instrumented(namespace: string): Promise<number> {
      const labelled = await deployments(namespace, labels.autoTrace);
      return labelled.filter(({ metadata }) => isOurs(metadata.labels?.[labels.autoTrace])).length;
    },
    lumigoes: (namespace: string): Promise<LumigoResource[]> => list(lumigo, namespace),
    events: (namespace: string): Promise<CoreV1Event[]> =>
      eventually(async () => {
        const { items } = await core.listNamespacedEvent({ namespace });
        return items.filter(({ reason }) => reason?.startsWith('Lumigo'));
      }),
    leases: (namespace: string): Promise<V1Lease[]> => list(kinds.leases, namespace),
    namespaces: async (): Promise<V1Namespace[]> => (await core.listNamespace()).items,
  };
}
