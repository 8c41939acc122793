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

type More = Partial<Pick<Component, 'module' | 'tags' | 'sources'>> & { readonly flags?: readonly string[] };

/** A program of Go without symbols. Default: its module has its name. */
const program = (
  name: string,
  goPackage: string,
  expectedSeconds: number,
  { module = name, flags = [], ...more }: More = {},
): Component => ({ name, module, goPackage, ldflags: ['-s -w', ...flags].join(' '), ...more, expectedSeconds });

/** A program whose main.go is in this project. */
const ownProgram = (name: string, expectedSeconds: number): Component =>
  program(name, '.', expectedSeconds, { sources: ['main.go'] });

/** A program of Kubernetes. Default: the version of the tests. */
export const kubernetes = (
  name: string,
  expectedSeconds: number,
  { version, module } = { version: kubernetesVersion, module: 'kubernetes' },
): Component => {
  const flags = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((at) => [
    `-X ${at}.gitVersion=${version}`,
    `-X ${at}.gitMajor=1`,
    `-X ${at}.gitMinor=${version.split('.')[1]}`,
  ]);
  return program(name, `k8s.io/kubernetes/cmd/${name}`, expectedSeconds, { module, flags });
};

/** The OpenTelemetry Collector. One program lists the components for all versions. */
export const collector = (version: string, module: string): Component =>
  program('otelcol', '.', 330, {
    module,
    sources: ['../collector/main.go'],
    flags: [`-X main.version=${version}`],
    // Without Prometheus' clients of clouds, 200 packages.
    tags: 'remove_all_sd',
  });

const helmFlags = [
  `-X helm.sh/helm/v3/internal/version.version=${helmVersion}`,
  // The Kubernetes version for charts that are rendered without a cluster.
  '-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1',
  '-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=36',
];

/** The order is that of their use: the first two form a control plane, and the others join it. */
export const components: readonly Component[] = [
  program('etcd', 'go.etcd.io/etcd/server/v3', 30),
  kubernetes('kube-apiserver', 230),
  kubernetes('kube-controller-manager', 60),
  kubernetes('kubectl', 25),
  collector(collectorImage.tag, 'collector'),
  program('helm', 'helm.sh/helm/v3/cmd/helm', 80, { flags: helmFlags }),
];

/** A kubelet of 1.36 or newer needs a newer containerd than Debian's. It may be three minor versions older than the API server. */
const ofNode = { version: 'v1.34.4', module: 'kubernetes-1.34' };

export const nodeComponents: readonly Component[] = [
  kubernetes('kubelet', 90, ofNode),
  kubernetes('kube-proxy', 40, ofNode),
  kubernetes('kube-scheduler', 25),
  ownProgram('coredns', 160),
  ownProgram('pause', 5),
  program('node-exporter', 'github.com/prometheus/node_exporter', 40),
];

/** The Helm that waits for custom resources. */
export const helm4 = program('helm-4', 'helm.sh/helm/v4/cmd/helm', 80, {
  flags: [`-X helm.sh/helm/v4/internal/version.version=${helm4Version}`],
});

export const releaseComponents: readonly Component[] = [ownProgram('registry', 60), ownProgram('cosign', 300), helm4];

const ofPrometheus = { module: 'promtool', tags: 'remove_all_sd' };

/** Judges of files that no program of the tests runs. promtool is without the service discovery that it does not need. */
export const validators: readonly Component[] = [
  program('promtool', 'github.com/prometheus/prometheus/cmd/promtool', 80, ofPrometheus),
  program('hclfmt', 'github.com/hashicorp/hcl/v2/cmd/hclfmt', 10, { module: 'hcl' }),
  program('operator-verify', 'github.com/operator-framework/api/cmd/operator-verify', 150, { module: 'olm' }),
];

/** It draws the picture of the dashboard, and no test needs it. */
const prometheus = program('prometheus', 'github.com/prometheus/prometheus/cmd/prometheus', 100, ofPrometheus);

const flux = (name: string, expectedSeconds: number): Component =>
  program(name, `github.com/fluxcd/${name}`, expectedSeconds, { module: 'flux' });

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
