import { flag, section, stringMap } from './leaves.ts';

const forPrometheus = (what: string) =>
  section({
    enabled: flag()
      .default(false)
      .describe(`Whether there is ${what}; the Prometheus operator's definitions have to be there first.`),
    labels: stringMap()
      .default({})
      .describe('Labels by which your Prometheus chooses it, e.g. `{release: prometheus}`.'),
  });

/** Who may read metrics, and what makes something of them. */
export const metrics = section({
  secure: flag()
    .default(false)
    .describe(
      'Whether metrics are served over TLS, and only to those whom the API server lets get `/metrics`; those of the telemetry ' +
        'proxy then come through the same port (docs/operate/monitoring.md says how to set Prometheus). Off, everybody who reaches the ' +
        'ports may read them, as existing scrapes do.',
    ),
  serviceMonitor: forPrometheus('a ServiceMonitor, by which Prometheus scrapes manager and telemetry proxy'),
  prometheusRule: forPrometheus('a PrometheusRule with the alerts of docs/operate/monitoring.md'),
  dashboard: section({
    enabled: flag().default(false).describe("Whether there is a ConfigMap with a dashboard, for Grafana's sidecar."),
    labels: stringMap().default({ grafana_dashboard: '1' }).describe('Labels by which the sidecar finds it.'),
  }),
});
