/** The cluster of a context, by how an image from this machine reaches its nodes. */
export type Target =
  | { readonly kind: 'kind' | 'minikube'; readonly context: string; readonly name: string }
  | { readonly kind: 'other'; readonly context: string };

/** The part of `kubectl config view --minify -o json` that is used. */
export interface MinifiedKubeconfig {
  readonly 'current-context': string;
  readonly contexts: readonly {
    readonly name: string;
    readonly context: {
      readonly cluster: string;
      readonly extensions?: readonly { readonly extension?: { readonly provider?: string } }[] | null;
    };
  }[];
}

const MINIKUBE = 'minikube.sigs.k8s.io';
const KIND_PREFIX = 'kind-';

/** Returns the tool of the cluster: minikube is named in the kubeconfig, and kind's clusters have a prefix. */
export function getTarget({ contexts, 'current-context': current }: MinifiedKubeconfig): Target {
  const found = contexts.find(({ name }) => name === current);
  const cluster = found?.context.cluster ?? '';
  const isMinikube = (found?.context.extensions ?? []).some(({ extension }) => extension?.provider === MINIKUBE);
  if (isMinikube) return { kind: 'minikube', context: current, name: cluster };
  if (cluster.startsWith(KIND_PREFIX))
    return { kind: 'kind', context: current, name: cluster.slice(KIND_PREFIX.length) };
  return { kind: 'other', context: current };
}
