import { pods, workloadKinds } from '../../runtime/contract.ts';
import type { KubernetesObject } from '../../runtime/kubernetes/resources/objects.ts';
import type { TestCluster } from './test-cluster.ts';
import { getPod, createWorkload } from './workloads.ts';

const { deployment, replicaSet } = workloadKinds;
const HASH = '5b7f9c6d8f';

export const podName = (app: string): string => `${app}-${HASH}-abcde`;

interface PodOptions {
  readonly namespace: string;
  readonly app: string;
  readonly labels?: object;
}

/**
 * Creates a Deployment with a pod at this address, without controllers. Returns the pod's uid.
 * Without an address, the pod is on the network of its node.
 */
export async function podAt(
  testCluster: TestCluster,
  address: string | undefined,
  { namespace, app, ...more }: PodOptions,
): Promise<string> {
  const owned = (owner: KubernetesObject & { readonly kind: string }, object: ReturnType<typeof createWorkload>) => {
    const { name, uid } = owner.metadata;
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: owner.kind, name, uid, controller: true }];
    return testCluster.create({ ...object, metadata: { ...object.metadata, ownerReferences } });
  };
  const owning = await testCluster.create(createWorkload(deployment, namespace, app));
  const set = await owned({ ...owning, kind: 'Deployment' }, createWorkload(replicaSet, namespace, `${app}-${HASH}`));
  const pod = getPod(namespace, podName(app));
  const { metadata } = await owned({ ...set, kind: 'ReplicaSet' }, {
    ...pod,
    metadata: { ...pod.metadata, ...more },
    spec: { ...pod.spec, nodeName: 'node', hostNetwork: address === undefined },
  } as typeof pod);
  const running = { ready: true, restartCount: 0, containerID: 'containerd://a' };
  const containerStatuses = [{ name: 'app', image: 'app:1', imageID: '', ...running }];
  const at = address === undefined ? {} : { podIP: address, podIPs: [{ ip: address }] };
  await testCluster.setStatus({ ...pods, namespace, name: podName(app) }, { ...at, containerStatuses });
  return metadata.uid ?? '';
}
