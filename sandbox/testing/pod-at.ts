import { pods, workloadKinds } from '../../runtime/contract.ts';
import type { KubernetesObject } from '../../runtime/kubernetes/resources/objects.ts';
import type { TestCluster } from './test-cluster.ts';
import { getPod, createWorkload } from './workloads.ts';

const { deployment, replicaSet } = workloadKinds;
const HASH = '5b7f9c6d8f';

export const podName = (app: string): string => `${app}-${HASH}-abcde`;

/** Creates a Deployment with a pod at this address, without controllers. Returns the pod's uid. */
export async function podAt(
  testCluster: TestCluster,
  address: string,
  namespace: string,
  app: string,
): Promise<string> {
  const owned = (owner: KubernetesObject & { readonly kind: string }, object: ReturnType<typeof createWorkload>) => {
    const { name, uid } = owner.metadata;
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: owner.kind, name, uid, controller: true }];
    return testCluster.create({ ...object, metadata: { ...object.metadata, ownerReferences } });
  };
  const owning = await testCluster.create(createWorkload(deployment, namespace, app));
  const set = await owned({ ...owning, kind: 'Deployment' }, createWorkload(replicaSet, namespace, `${app}-${HASH}`));
  const { metadata } = await owned({ ...set, kind: 'ReplicaSet' }, getPod(namespace, podName(app)));
  await testCluster.setStatus(
    { ...pods, namespace, name: podName(app) },
    { podIP: address, podIPs: [{ ip: address }] },
  );
  return metadata.uid ?? '';
}
