/** The cluster of a kubeconfig context, by how an image from this machine reaches its nodes. */
export type Target =
  | { readonly kind: 'kind'; readonly context: string; readonly name: string }
  | { readonly kind: 'minikube'; readonly context: string; readonly name: string }
  | { readonly kind: 'other'; readonly context: string };

/** The part of `kubectl config view --minify -o json` that is read here. */
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

/** Finds out which tool made the cluster: minikube says so in the kubeconfig, kind gives its clusters names with a prefix. */
export function getTarget({ contexts, 'current-context': current }: MinifiedKubeconfig): Target {
  const found = contexts.find(({ name }) => name === current);
  const cluster = found?.context.cluster ?? '';
  const isMinikube = (found?.context.extensions ?? []).some(({ extension }) => extension?.provider === MINIKUBE);
  if (isMinikube) return { kind: 'minikube', context: current, name: cluster };
  if (cluster.startsWith(KIND_PREFIX))
    return { kind: 'kind', context: current, name: cluster.slice(KIND_PREFIX.length) };
  return { kind: 'other', context: current };
}

/** Only a cluster of kind or minikube is certain to be on this machine. For any other, the command asks first. */
export const needsAgreement = ({ kind }: Target): boolean => kind === 'other';
