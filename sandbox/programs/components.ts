import { helmVersion, kubernetesVersion } from './archives.ts';

/** One program, and how it is built from a pinned Go module. */
export interface Component {
  readonly name: string;
  /** The folder of its go.mod and go.sum, below this one. */
  readonly module: string;
  readonly goPackage: string;
  readonly ldflags: string;
  /** Its own sources, from that folder, where it is a program of ours that puts a module's parts together. */
  readonly sources?: readonly string[];
  /** Seconds from nothing on two cores, for whoever waits. */
  readonly expectedSeconds: number;
}

const versioned = (version: string): string =>
  [
    '-s -w',
    ...['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((at) => [
      `-X ${at}.gitVersion=${version}`,
      `-X ${at}.gitMajor=1`,
      `-X ${at}.gitMinor=${version.split('.')[1]}`,
    ]),
  ].join(' ');

const helmFlags = [
  '-s -w',
  `-X helm.sh/helm/v3/internal/version.version=${helmVersion}`,
  // As which Kubernetes it renders a chart where no cluster says so.
  '-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1',
  '-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=36',
].join(' ');

/** A program of Kubernetes; that of the tests, unless another version and its module are named. */
export const kubernetes = (
  name: string,
  expectedSeconds: number,
  { version, module } = { version: kubernetesVersion, module: 'kubernetes' },
): Component => ({
  name,
  module,
  goPackage: `k8s.io/kubernetes/cmd/${name}`,
  ldflags: versioned(version),
  expectedSeconds,
});

/** The OpenTelemetry Collector; of all its versions one program of ours names the components, some with a file of their own beside it. */
export const collector = (version: string, module: string, sources: readonly string[] = []): Component => ({
  name: 'otelcol',
  module,
  goPackage: '.',
  sources: ['../collector/main.go', ...sources],
  ldflags: `-s -w -X main.version=${version}`,
  expectedSeconds: 210,
});

/** In the order in which they are needed: the first two make a control plane, the others join it one by one. */
export const components: readonly Component[] = [
  { name: 'etcd', module: 'etcd', goPackage: 'go.etcd.io/etcd/server/v3', ldflags: '-s -w', expectedSeconds: 30 },
  kubernetes('kube-apiserver', 230),
  kubernetes('kube-controller-manager', 60),
  kubernetes('kubectl', 25),
  collector('0.130.0', 'collector'),
  { name: 'helm', module: 'helm', goPackage: 'helm.sh/helm/v3/cmd/helm', ldflags: helmFlags, expectedSeconds: 80 },
];

/** A kubelet from 1.36 on needs a newer containerd than Debian's. It may be older than the API server by three minor versions. */
const ofNode = { version: 'v1.34.4', module: 'kubernetes-1.34' };

/** What a node needs beside them. */
export const nodeComponents: readonly Component[] = [
  kubernetes('kubelet', 90, ofNode),
  kubernetes('kube-proxy', 40, ofNode),
  kubernetes('kube-scheduler', 25),
  { name: 'coredns', module: 'coredns', goPackage: '.', sources: ['main.go'], ldflags: '-s -w', expectedSeconds: 160 },
  { name: 'pause', module: 'pause', goPackage: '.', sources: ['main.go'], ldflags: '-s -w', expectedSeconds: 5 },
];

/** What the tests of a release need: where it goes, and who signs it. */
export const releaseComponents: readonly Component[] = [
  { name: 'registry', module: 'registry', goPackage: '.', sources: ['main.go'], ldflags: '-s -w', expectedSeconds: 60 },
  { name: 'cosign', module: 'cosign', goPackage: '.', sources: ['main.go'], ldflags: '-s -w', expectedSeconds: 300 },
];

const flux = (name: string, expectedSeconds: number): Component => ({
  name,
  module: 'flux',
  goPackage: `github.com/fluxcd/${name}`,
  ldflags: '-s -w',
  expectedSeconds,
});

/** A GitOps engine, for the tests on request alone: what applies a git repository to a cluster. */
export const fluxComponents: readonly Component[] = [flux('source-controller', 240), flux('kustomize-controller', 120)];

export const allComponents: readonly Component[] = [
  ...components,
  ...nodeComponents,
  ...releaseComponents,
  ...fluxComponents,
];

export const oldestGo = [1, 26] as const;
