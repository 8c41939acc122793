import { ApiObject, type ApiObjectProps } from 'cdk8s';
import { Construct } from 'constructs';
import { certificateFiles, mounts, paths, suffixes } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import { alertRules, alerts } from './alerts.ts';
import { dashboard } from './dashboard.ts';
import { labels, scrapedLabels, type Installation } from './labels.ts';
import { webhookHost } from './runtime-environment.ts';

const apiVersion = 'monitoring.coreos.com/v1';

type Part = Readonly<{ enabled: boolean; labels: Readonly<Record<string, string>> }>;

export type MonitoringProps = Installation & Pick<Settings, 'metrics'>;

export class Monitoring extends Construct {
  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    const { serviceMonitor, prometheusRule, silentWorkloadsRule, dashboard: grafana } = props.metrics;
    const add = (part: string, wanted: Part, suffix: string, object: ApiObjectProps) => {
      if (!wanted.enabled) return;
      const common = { ...wanted.labels, ...labels(props, 'metrics') };
      const metadata = { name: `${props.name}${suffix}`, namespace: props.namespace, labels: common };
      new ApiObject(this, part, { ...object, metadata });
    };
    add('service-monitor', serviceMonitor, suffixes.manager, {
      apiVersion,
      kind: 'ServiceMonitor',
      spec: { selector: { matchLabels: scrapedLabels(props) }, endpoints: getEndpoints(props) },
    });
    add('prometheus-rule', prometheusRule, suffixes.manager, toRule('lumigo-operator', false));
    add('silent-workloads-rule', silentWorkloadsRule, '-silent-workloads', toRule('lumigo-operator-telemetry', true));
    add('dashboard', grafana, suffixes.dashboard, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      data: { 'lumigo-operator.json': JSON.stringify(dashboard(), undefined, 2) },
    });
  }
}

const toRule = (name: string, optional: boolean) => ({
  apiVersion,
  kind: 'PrometheusRule',
  spec: { groups: [{ name, rules: alertRules(alerts.filter(({ isOptional = false }) => isOptional === optional)) }] },
});

/** The metrics by namespace have their own `namespace` label, which Prometheus must keep. */
const honest = { honorLabels: true };

function getEndpoints(props: MonitoringProps): readonly object[] {
  if (!props.metrics.secure) return ['metrics', 'otlp-metrics'].map((port) => ({ port, ...honest }));
  const secure = {
    port: 'https-metrics',
    scheme: 'https',
    ...honest,
    // Both endpoints are on one port, so without this label the targets of a pod would have the same series.
    relabelings: [{ sourceLabels: ['__metrics_path__'], targetLabel: 'metrics_path', action: 'replace' }],
    bearerTokenFile: `${mounts.serviceAccount}/token`,
    tlsConfig: {
      serverName: webhookHost(props),
      ca: { secret: { name: `${props.name}${suffixes.certificates}`, key: certificateFiles.authority } },
    },
  };
  return [paths.metrics, paths.telemetryProxyMetrics].map((path) => ({ path, ...secure }));
}
