import { kubernetesVersion } from './archives.ts';
import { kubernetes } from './components.ts';

/**
 * The Kubernetes versions that the operator is tried on, oldest first: of each the newest patch release whose modules are all to be
 * had (of 1.31 and 1.32 later ones lack some). That of the tests is one of them.
 */
const versions = [
  'v1.30.14',
  'v1.31.0',
  'v1.32.2',
  'v1.33.13',
  'v1.34.4',
  'v1.35.4',
  kubernetesVersion,
  'v1.37.2',
] as const;

/** What makes a control plane of each version; the rest, etcd and kubectl too, is that of the tests. */
export const triedKubernetes = versions.map((version) => {
  // `1.30` of `v1.30.14`
  const minor = version.split('.').slice(0, 2).join('.').slice(1);
  const module = version === kubernetesVersion ? 'kubernetes' : `kubernetes-${minor}`;
  const programs = { version, module };
  return {
    ...{ minor, version },
    components: [kubernetes('kube-apiserver', 230, programs), kubernetes('kube-controller-manager', 60, programs)],
  };
});
