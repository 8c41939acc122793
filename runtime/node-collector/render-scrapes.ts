import { accountFiles, mounts } from '../contract.ts';

/** The metrics that a scrape keeps, and how often it is done. */
export interface Scrapes {
  readonly essentialOnly: boolean;
  readonly essentialMetrics: readonly string[];
  readonly metricsFrequency: string;
}

export interface NodeIdentity {
  readonly name: string;
  /** An IPv4 or IPv6 address. */
  readonly address: string;
}

const KUBELET_PORT = 10_250;
export const NODE_EXPORTER_ADDRESS = '127.0.0.1:9100';
const TOKEN_FILE = `${mounts.serviceAccount}/${accountFiles.token}`;

/** The names of the jobs are those of the original (v69), because Lumigo tells sources apart by them. */
export function nodeScrapes(scrapes: Scrapes, { name, address }: NodeIdentity): readonly object[] {
  const kubelet = `${address.includes(':') ? `[${address}]` : address}:${KUBELET_PORT}`;
  const ofKubelet = (job: string, path: string, dropped: readonly string[] = []) => ({
    ...scrapeJob(scrapes, { job, target: kubelet, labels: { instance: name }, dropped }),
    metrics_path: path,
    scheme: 'https',
    authorization: { credentials_file: TOKEN_FILE },
    // Most kubelets sign their own certificate. The request does not leave the node.
    tls_config: { insecure_skip_verify: true },
  });
  return [
    ofKubelet('k8s-infra-metrics', '/metrics'),
    ofKubelet('k8s-infra-metrics-cadvisor', '/metrics/cadvisor'),
    ofKubelet('k8s-infra-metrics-resources', '/metrics/resource', alsoFromCadvisor),
    scrapeJob(scrapes, {
      job: 'prometheus-node-exporter',
      target: NODE_EXPORTER_ADDRESS,
      labels: { instance: name, node: name },
      dropped: alsoFromKubelet,
    }),
  ];
}

export const kubeStateScrape = (scrapes: Scrapes, address: string): object =>
  scrapeJob(scrapes, { job: 'kube-state-metrics', target: address, labels: {}, dropped: [] });

const alsoFromCadvisor = [
  'container_cpu_usage_seconds_total',
  'container_start_time_seconds',
  'container_memory_working_set_bytes',
];

const alsoFromKubelet = [
  ...['virtual_memory_max_bytes', 'virtual_memory_bytes', 'start_time_seconds', 'resident_memory_bytes'],
  ...['open_fds', 'max_fds', 'cpu_seconds_total'],
].map((name) => `process_${name}`);

interface Job {
  readonly job: string;
  readonly target: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Names of metrics that another job sends as well. */
  readonly dropped: readonly string[];
}

const relabel = (action: 'keep' | 'drop', names: readonly string[]) => ({
  source_labels: ['__name__'],
  action,
  regex: names.join('|'),
});

const scrapeJob = (scrapes: Scrapes, { job, target, labels, dropped }: Job) => ({
  job_name: job,
  scrape_interval: scrapes.metricsFrequency,
  static_configs: [{ targets: [target], labels }],
  metric_relabel_configs: [
    ...(scrapes.essentialOnly ? [relabel('keep', scrapes.essentialMetrics)] : []),
    ...(dropped.length === 0 ? [] : [relabel('drop', dropped)]),
  ],
});

/** Metrics about the scrape and about the programs that serve it. The original drops them, too. */
export const scrapeFilter = {
  error_mode: 'ignore',
  metrics: {
    metric: [
      'IsMatch(name, "^(up|scrape_.+|go_.+|apiserver_.+|authentication_token_.+|aggregator_discovery_aggregation_count)$")',
    ],
  },
};
