import { collectorImage } from '../../infra/settings/controller-manager.ts';
import { helm4Version, helmVersion, kubernetesVersion } from './archives.ts';

export interface Component {
  readonly name: string;
  /** The folder of its go.mod and go.sum, below this one. */
  readonly module: string;
  readonly goPackage: string;
  readonly ldflags: string;
  /** Build tags of Go, separated by commas. */
  readonly tags?: string;
  /** Sources of this project in that folder, for a program that combines parts of a module. */
  readonly sources?: readonly string[];
  /** Seconds of a build on two cores. */
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
  // The Kubernetes version for charts that are rendered without a cluster.
  '-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1',
  '-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=36',
].join(' ');

/** A program of Kubernetes. Default: the version of the tests. */
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

/** The OpenTelemetry Collector. One program lists the components for all versions. */
export const collector = (version: string, module: string): Component => ({
  name: 'otelcol',
  module,
  goPackage: '.',
  sources: ['../collector/main.go'],
  ldflags: `-s -w -X main.version=${version}`,
  // Without Prometheus' clients of clouds, 200 packages.
  tags: 'remove_all_sd',
  expectedSeconds: 330,
});

/** The order is that of their use: the first two form a control plane, and the others join it. */
export const components: readonly Component[] = [
  { name: 'etcd', module: 'etcd', goPackage: 'go.etcd.io/etcd/server/v3', ldflags: '-s -w', expectedSeconds: 30 },
  kubernetes('kube-apiserver', 230),
  kubernetes('kube-controller-manager', 60),
  kubernetes('kubectl', 25),
  collector(collectorImage.tag, 'collector'),
  { name: 'helm', module: 'helm', goPackage: 'helm.sh/helm/v3/cmd/helm', ldflags: helmFlags, expectedSeconds: 80 },
];

/** A kubelet of 1.36 or newer needs a newer containerd than Debian's. It may be three minor versions older than the API server. */
const ofNode = { version: 'v1.34.4', module: 'kubernetes-1.34' };

export const nodeComponents: readonly Component[] = [
  kubernetes('kubelet', 90, ofNode),
  kubernetes('kube-proxy', 40, ofNode),
  kubernetes('kube-scheduler', 25),
  { name: 'coredns', module: 'coredns', goPackage: '.', sources: ['main.go'], ldflags: '-s -w', expectedSeconds: 160 },
  { name: 'pause', module: 'pause', goPackage: '.', sources: ['main.go'], ldflags: '-s -w', expectedSeconds: 5 },
  {
    ...{ name: 'node-exporter', module: 'node-exporter', goPackage: 'github.com/prometheus/node_exporter' },
    ...{ ldflags: '-s -w', expectedSeconds: 40 },
  },
];

/** The Helm that waits for custom resources. */
export const helm4: Component = {
  name: 'helm-4',
  module: 'helm-4',
  goPackage: 'helm.sh/helm/v4/cmd/helm',
  ldflags: `-s -w -X helm.sh/helm/v4/internal/version.version=${helm4Version}`,
  expectedSeconds: 80,
};

export const releaseComponents: readonly Component[] = [
  { name: 'registry', module: 'registry', goPackage: '.', sources: ['main.go'], ldflags: '-s -w', expectedSeconds: 60 },
  { name: 'cosign', module: 'cosign', goPackage: '.', sources: ['main.go'], ldflags: '-s -w', expectedSeconds: 300 },
  helm4,
];

/** Judges of files that no program of the tests runs. promtool is without the service discovery that it does not need. */
export const validators: readonly Component[] = [
  {
    ...{ name: 'promtool', module: 'promtool', goPackage: 'github.com/prometheus/prometheus/cmd/promtool' },
    ...{ ldflags: '-s -w', tags: 'remove_all_sd', expectedSeconds: 80 },
  },
  {
    ...{ name: 'hclfmt', module: 'hcl', goPackage: 'github.com/hashicorp/hcl/v2/cmd/hclfmt' },
    ...{ ldflags: '-s -w', expectedSeconds: 10 },
  },
  {
    ...{ name: 'operator-verify', module: 'olm', ldflags: '-s -w', expectedSeconds: 150 },
    goPackage: 'github.com/operator-framework/api/cmd/operator-verify',
  },
];

/** It draws the picture of the dashboard, and no test needs it. */
const prometheus: Component = {
  ...{ name: 'prometheus', module: 'promtool', goPackage: 'github.com/prometheus/prometheus/cmd/prometheus' },
  ...{ ldflags: '-s -w', tags: 'remove_all_sd', expectedSeconds: 100 },
};

const flux = (name: string, expectedSeconds: number): Component => ({
  name,
  module: 'flux',
  goPackage: `github.com/fluxcd/${name}`,
  ldflags: '-s -w',
  expectedSeconds,
});

/** A GitOps engine, for the tests that run on request only. */
export const fluxComponents: readonly Component[] = [flux('source-controller', 240), flux('kustomize-controller', 120)];

export const allComponents: readonly Component[] = [
  ...components,
  ...nodeComponents,
  ...releaseComponents,
  ...validators,
  ...fluxComponents,
  prometheus,
];

export const oldestGo = [1, 26] as const;
