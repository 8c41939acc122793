/** What is worth waking somebody for, or worth a look. docs/operate/operations.md has its table from here. */
export interface Alert {
  readonly name: string;
  /** In PromQL. Series of the manager's are told apart by pod. */
  readonly expr: string;
  /** So long it has to hold; left out: at once. */
  readonly for?: string;
  readonly severity: 'warning' | 'info';
  readonly summary: string;
}

const metric = (name: string): string => `lumigo_operator_${name}`;
const certificate = (what: string): string => metric(`webhook_certificate_${what}_timestamp_seconds`);

export const alerts: readonly Alert[] = [
  {
    name: 'LumigoOperatorWithoutLeader',
    expr: `absent(${metric('leader')}) or sum by (namespace) (${metric('leader')}) < 1`,
    ...{ for: '10m', severity: 'warning' },
    summary: 'No replica of the Lumigo operator leads: existing workloads and Lumigo resources are not looked after.',
  },
  {
    name: 'LumigoWatchSilent',
    expr: `time() - ${metric('watch_heard_timestamp_seconds')} > 600 and on (pod) ${metric('leader')} == 1`,
    ...{ for: '5m', severity: 'warning' },
    summary:
      'The Lumigo operator has heard nothing of a kind of resource for ten minutes: what exists is not looked after.',
  },
  {
    name: 'LumigoWebhookUnreachable',
    expr: `${metric('webhook_reachable')} == 0 and on (pod) ${metric('leader')} == 1`,
    ...{ for: '10m', severity: 'warning' },
    summary:
      'An API server does not reach the Lumigo webhook: new workloads are instrumented later, at the price of a restart.',
  },
  {
    name: 'LumigoWebhookCertificateExpires',
    // How long it lives is its issuer's matter; the operator's own and most others are renewed in their last third.
    expr: `${certificate('expiry')} - time() < 2 / 3 * (${certificate('expiry')} - ${certificate('renewal')})`,
    ...{ for: '1h', severity: 'warning' },
    summary: 'A third of the time to renew the certificate of the Lumigo webhook is over, and nobody has renewed it.',
  },
  {
    name: 'LumigoInjectionsMissed',
    expr: `increase(${metric('missed_injections_total')}[30m]) > 0`,
    ...{ for: '30m', severity: 'warning' },
    summary: 'The Lumigo webhook goes on missing workloads, which then restart once more than they need to.',
  },
  {
    name: 'LumigoAdmissionReviewsFail',
    expr: `increase(${metric('admission_reviews_total')}{outcome="failed"}[15m]) > 0`,
    severity: 'warning',
    summary: 'The Lumigo webhook fails to decide: a fault of the operator; the workloads went through unchanged.',
  },
  {
    name: 'LumigoTelemetryProxyReloadFails',
    expr: `increase(${metric('telemetry_proxy_reloads_total')}{outcome="failed"}[15m]) > 0`,
    ...{ for: '15m', severity: 'warning' },
    summary:
      'The Lumigo telemetry proxy does not take its configuration: Kubernetes events and objects are not collected.',
  },
  {
    name: 'LumigoTelemetryDropped',
    expr: 'sum by (pod) (increase(otelcol_exporter_enqueue_failed_spans[15m])) > 0 or sum by (pod) (increase(otelcol_exporter_enqueue_failed_log_records[15m])) > 0',
    ...{ for: '5m', severity: 'warning' },
    summary:
      'A queue of the Lumigo telemetry proxy is full, since Lumigo takes less than what comes: what comes is dropped.',
  },
  {
    name: 'LumigoTokenRefused',
    expr: `max by (namespace) (${metric('refused_tokens')}) > 0`,
    ...{ for: '5m', severity: 'warning' },
    summary: 'Lumigo refuses the token of this namespace: what it sends is dropped.',
  },
  {
    name: 'LumigoFormerTokenInUse',
    expr: `max by (namespace) (${metric('former_token_pods')}) > 0`,
    ...{ for: '30m', severity: 'warning' },
    summary: 'Pods of this namespace send a Lumigo token that was replaced; restart them before it is refused.',
  },
  {
    name: 'LumigoUpdateCheckOverdue',
    expr: `${metric('update_check_due_timestamp_seconds')} > 0 and time() > ${metric('update_check_due_timestamp_seconds')}`,
    ...{ for: '1h', severity: 'info' },
    summary: 'The Lumigo updater should have looked for a newer version more than a day ago, and has not.',
  },
];

/** What docs/operate/operations.md says of them. */
export function alertsTable(): string {
  const rows = alerts.map(
    ({ name, expr, for: held, severity, summary }) =>
      `| \`${name}\` | ${severity} | \`${expr.replaceAll('|', '\\|')}\` | ${held ?? 'at once'} | ${summary} |`,
  );
  return ['| alert | severity | when | for | meaning |', '| --- | --- | --- | --- | --- |', ...rows].join('\n');
}
