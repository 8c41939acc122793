import { flag, section, stringMap } from './leaves.ts';

const forPrometheus = (what: string) =>
  section({
    enabled: flag()
      .default(false)
      .describe(`Creates ${what}. The CRDs of the Prometheus operator must be installed first.`),
    labels: stringMap()
      .default({})
      .describe('Labels by which your Prometheus selects it, e.g. `{release: prometheus}`.'),
  });

export const metrics = section({
  secure: flag()
    .default(false)
    .describe(
      'Serves metrics over TLS, and only to clients that the API server allows to get `/metrics`. The metrics of the telemetry ' +
        'proxy then come through the same port. docs/operate/monitoring.md has the configuration of Prometheus. By default every ' +
        'client that reaches the ports can read metrics without TLS.',
    ),
  serviceMonitor: forPrometheus('a ServiceMonitor, by which Prometheus scrapes the manager and the telemetry proxy'),
  prometheusRule: forPrometheus('a PrometheusRule with the alerts of docs/operate/monitoring.md'),
  silentWorkloadsRule: forPrometheus(
    'a PrometheusRule with the alert LumigoWorkloadsSilent, for clusters where each instrumented workload must send telemetry',
  ),
  dashboard: section({
    enabled: flag().default(false).describe("Creates a ConfigMap with a dashboard for Grafana's sidecar."),
    labels: stringMap()
      .default({ grafana_dashboard: '1' })
      .describe('Labels by which the sidecar finds the ConfigMap.'),
  }),
});
