import { z } from 'zod';
import { essentialMetrics } from '../../runtime/node-collector/essential-metrics.ts';
import {
  absolutePath,
  dnsSubdomain,
  duration,
  fields,
  flag,
  hostAndPort,
  image,
  largeQuantity,
  metricPattern,
  namePattern,
  opaqueMap,
  orEmpty,
  section,
} from './leaves.ts';

const pattern = (of: string) => namePattern().optional().describe(`Names of ${of}, such as \`shop-*\`. Default: all.`);

const logFiles = () =>
  z
    .array(
      fields({
        namespacePattern: pattern('namespaces'),
        podPattern: pattern('pods'),
        containerPattern: pattern('containers'),
      }),
      { error: 'must be a list of patterns' },
    )
    .default([]);

/** The sections of this file have the names of the original operator's chart. */
export const clusterCollection = section({
  metrics: section({
    enabled: flag()
      .default(false)
      .describe(
        'Collects metrics of nodes, containers and Kubernetes objects, and sends them under the token of `lumigoToken` (docs/use/infrastructure.md).',
      ),
    essentialOnly: flag()
      .default(true)
      .describe(
        'Sends only the metrics of `clusterCollection.metrics.essentialMetrics.names`. If false, node_exporter reads `/proc` and `/sys` of the node.',
      ),
    essentialMetrics: section({
      names: z
        .array(metricPattern(), { error: 'must be a list of metrics' })
        .min(1, 'must name at least one metric')
        .default([...essentialMetrics])
        .describe(
          'Metrics, as regular expressions of whole names. The default is what the Kubernetes pages of Lumigo need. `node_*` are those ' +
            'of CPU and memory (for others set `essentialOnly: false`). `kube_*` are those of namespaces, nodes, pods, workloads and jobs ' +
            '(for others set `kubeStateMetrics.address`).',
        ),
    }),
    frequency: duration().default('15s').describe('The time between two scrapes.'),
  }),
  logs: section({
    enabled: flag()
      .default(false)
      .describe(
        'Collects the log files of containers. Lines of a namespace leave the cluster only if its `Lumigo` resource has ' +
          '`logging.enabled`, and under its own token (docs/use/infrastructure.md). ' +
          'Each replica needs about 26 KB of memory more for each pod of the cluster.',
      ),
    include: logFiles().describe('Log files to collect. Empty: all.'),
    exclude: logFiles().describe(
      'Log files that are not collected. Those of namespaces that are never instrumented (`webhook.excludedNamespaces`) never are.',
    ),
  }),
});

export const logFileCollector = section({
  resources: opaqueMap()
    .default({ requests: { cpu: '10m', memory: '128Mi' }, limits: { cpu: '500m', memory: '256Mi' } })
    .describe('Requests and limits of the node collector. Above 80 % of the memory limit it reads no further.'),
  priorityClassName: orEmpty(dnsSubdomain(), 'must be the name of a PriorityClass, or empty').describe(
    "The PriorityClass of the node collectors' pods, for log files and metrics. Empty: none.",
  ),
  queueSize: largeQuantity()
    .default('256Mi')
    .describe(
      'Disk space on each node for logs, and as much for metrics, while the telemetry proxy does not answer. At least 64M. ' +
        'If it is full, the node collector reads no further.',
    ),
  stateDirectory: orEmpty(absolutePath(), 'must be an absolute path without a slash at its end, or empty')
    .default('/var/lib/lumigo-node-collector')
    .describe(
      'A directory of each node for the queue, and for the position in each log file. It is used with `clusterCollection.logs.enabled`. ' +
        'Empty: both are deleted with the pod, and lines are missed while it is replaced. GKE Autopilot needs it empty.',
    ),
});

export const prometheusNodeExporter = section({
  image: image({ repository: 'docker.io/prom/node-exporter', tag: 'v1.8.2' }, 'node_exporter (metrics of the node)'),
  resources: opaqueMap()
    .default({ requests: { cpu: '10m', memory: '64Mi' }, limits: { cpu: '500m', memory: '128Mi' } })
    .describe('Requests and limits of node_exporter.'),
});

export const kubeStateMetrics = section({
  install: flag()
    .default(true)
    .describe('Installs kube-state-metrics for the metrics of Kubernetes objects, if metrics are collected.'),
  address: orEmpty(hostAndPort(), 'must be a host and a port, such as metrics.monitoring.svc:8080, or empty').describe(
    'Host and port of a kube-state-metrics that the cluster has already. Then none is installed.',
  ),
  image: image(
    { repository: 'registry.k8s.io/kube-state-metrics/kube-state-metrics', tag: 'v2.14.0' },
    'kube-state-metrics',
  ),
  resources: opaqueMap()
    .default({ requests: { cpu: '10m', memory: '64Mi' }, limits: { cpu: '500m', memory: '512Mi' } })
    .describe('Requests and limits of kube-state-metrics. Its memory grows with the objects of the cluster.'),
});
