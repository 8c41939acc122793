import { kubernetesVersion } from './archives.ts';
import { kubernetes } from './components.ts';

/** For each Kubernetes version, the newest patch release whose modules are all available (later ones of 1.31 and 1.32 lack some). */
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

/** The programs of a control plane in each version. Others, such as etcd and kubectl, have the version of the tests. */
export const triedKubernetes = versions.map((version) => {
  const minor = version.split('.').slice(0, 2).join('.').slice(1);
  const module = version === kubernetesVersion ? 'kubernetes' : `kubernetes-${minor}`;
  const programs = { version, module };
  return {
    minor,
    version,
    components: [kubernetes('kube-apiserver', 230, programs), kubernetes('kube-controller-manager', 60, programs)],
  };
});
