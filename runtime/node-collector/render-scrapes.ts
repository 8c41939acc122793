import type { NodeCollectorConfig } from '../config/config.ts';
import { accountFiles, mounts } from '../contract.ts';
import { at } from './common-parts.ts';

type Scrapes = Pick<NodeCollectorConfig, 'essentialOnly' | 'essentialMetrics' | 'metricsFrequency'>;

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
  const kubelet = { targets: [at(address, KUBELET_PORT)], labels: { instance: name } };
  const nodeExporter = { targets: [NODE_EXPORTER_ADDRESS], labels: { instance: name, node: name } };
  const ofKubelet = (job: string, path: string, dropped: readonly string[]) => ({
    ...scrapeJob(scrapes, job, kubelet, dropped),
    metrics_path: path,
    scheme: 'https',
    authorization: { credentials_file: TOKEN_FILE },
    // Most kubelets sign their own certificate. The request does not leave the node.
    tls_config: { insecure_skip_verify: true },
  });
  return [
    ofKubelet('k8s-infra-metrics', '/metrics', []),
    ofKubelet('k8s-infra-metrics-cadvisor', '/metrics/cadvisor', []),
    ofKubelet('k8s-infra-metrics-resources', '/metrics/resource', alsoFromCadvisor),
    scrapeJob(scrapes, 'prometheus-node-exporter', nodeExporter, alsoFromKubelet),
  ];
}

export const kubeStateScrape = (scrapes: Scrapes, address: string): object =>
  scrapeJob(scrapes, 'kube-state-metrics', { targets: [address], labels: {} }, []);

const alsoFromCadvisor = [
  'container_cpu_usage_seconds_total',
  'container_start_time_seconds',
  'container_memory_working_set_bytes',
];

const alsoFromKubelet = [
  ...['virtual_memory_max_bytes', 'virtual_memory_bytes', 'start_time_seconds', 'resident_memory_bytes'],
  ...['open_fds', 'max_fds', 'cpu_seconds_total'],
].map((name) => `process_${name}`);

const relabel = (action: 'keep' | 'drop', names: readonly string[]) => ({
  source_labels: ['__name__'],
  action,
  regex: names.join('|'),
});

/** `dropped`: names of metrics that another job sends as well. */
const scrapeJob = (scrapes: Scrapes, job: string, target: object, dropped: readonly string[]) => ({
  job_name: job,
  scrape_interval: scrapes.metricsFrequency,
  static_configs: [target],
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
