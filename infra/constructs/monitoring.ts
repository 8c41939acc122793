import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { certificateFiles, mounts, paths, suffixes } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import { alertRules, alerts, type Alert } from './alerts.ts';
import { dashboard } from './dashboard.ts';
import { labels, scrapedLabels, type Installation } from './labels.ts';
import { webhookHost } from './runtime-environment.ts';

const apiVersion = 'monitoring.coreos.com/v1';
const component = 'metrics';

export type MonitoringProps = Installation & Pick<Settings, 'metrics'>;

export class Monitoring extends Construct {
  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    const { serviceMonitor, prometheusRule, silentWorkloadsRule, dashboard: wanted } = props.metrics;
    const metadata = (more: Readonly<Record<string, string>>, suffix: string = suffixes.manager) => ({
      name: `${props.name}${suffix}`,
      namespace: props.namespace,
      labels: { ...more, ...labels(props, component) },
    });
    if (serviceMonitor.enabled)
      new ApiObject(this, 'service-monitor', {
        apiVersion,
        kind: 'ServiceMonitor',
        metadata: metadata(serviceMonitor.labels),
        spec: { selector: { matchLabels: scrapedLabels(props) }, endpoints: getEndpoints(props) },
      });
    if (prometheusRule.enabled)
      new ApiObject(this, 'prometheus-rule', {
        apiVersion,
        kind: 'PrometheusRule',
        metadata: metadata(prometheusRule.labels),
        spec: toGroup('lumigo-operator', (each) => !each.isOptional),
      });
    if (silentWorkloadsRule.enabled)
      new ApiObject(this, 'silent-workloads-rule', {
        apiVersion,
        kind: 'PrometheusRule',
        metadata: metadata(silentWorkloadsRule.labels, suffixes.silentWorkloads),
        spec: toGroup('lumigo-operator-telemetry', ({ isOptional }) => isOptional === true),
      });
    if (wanted.enabled)
      new ApiObject(this, 'dashboard', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: metadata(wanted.labels, suffixes.dashboard),
        data: { 'lumigo-operator.json': JSON.stringify(dashboard(), undefined, 2) },
      });
  }
}

const toGroup = (name: string, isChosen: (alert: Alert) => boolean) => ({
  groups: [{ name, rules: alertRules(alerts.filter(isChosen)) }],
});

/** The metrics by namespace have their own `namespace` label, which Prometheus must keep. */
const honest = { honorLabels: true };

function getEndpoints(props: MonitoringProps): readonly object[] {
  if (!props.metrics.secure) return ['metrics', 'otlp-metrics'].map((port) => ({ port, ...honest }));
  const secure = {
    port: 'https-metrics',
    scheme: 'https',
    ...honest,
    bearerTokenFile: `${mounts.serviceAccount}/token`,
    tlsConfig: {
      serverName: webhookHost(props),
      ca: { secret: { name: `${props.name}${suffixes.certificates}`, key: certificateFiles.authority } },
    },
  };
  return [paths.metrics, paths.telemetryProxyMetrics].map((path) => ({ path, ...secure }));
}
