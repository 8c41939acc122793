/** An alert about the operator, as the PrometheusRule and docs/operate/monitoring.md have it. */
export interface Alert {
  readonly name: string;
  /** A PromQL expression. The `pod` label distinguishes the managers' series. */
  readonly expr: string;
  readonly for?: string;
  readonly severity: 'warning' | 'info';
  readonly summary: string;
  readonly action: string;
}

const metric = (name: string): string => `lumigo_operator_${name}`;
const certificate = (what: string): string => metric(`webhook_certificate_${what}_timestamp_seconds`);

export const alerts: readonly Alert[] = [
  {
    name: 'LumigoOperatorWithoutLeader',
    expr: `absent(${metric('leader')}) or sum by (namespace) (${metric('leader')}) < 1`,
    ...{ for: '10m', severity: 'warning' },
    summary: 'No replica of the Lumigo operator leads, so nothing reconciles workloads and Lumigo resources.',
    action:
      "Check the operator's pods, their logs and the Lease `<name>-leader` in the operator's namespace. New workloads are instrumented as long as one pod is ready.",
  },
  {
    name: 'LumigoWatchSilent',
    expr: `time() - ${metric('watch_heard_timestamp_seconds')} > 600 and on (pod) ${metric('leader')} == 1`,
    ...{ for: '5m', severity: 'warning' },
    summary: 'The Lumigo operator has received no watch message for ten minutes, so it misses changes.',
    action:
      "Look for watch errors in the manager's log. Check that the operator's pods reach the API server and that nothing changed their ClusterRole.",
  },
  {
    name: 'LumigoWebhookUnreachable',
    expr: `${metric('webhook_reachable')} == 0 and on (pod) ${metric('leader')} == 1`,
    ...{ for: '10m', severity: 'warning' },
    summary:
      'The API server does not reach the Lumigo webhook, so new workloads are instrumented later and restart once more.',
    action: 'Read the condition `WebhookReachable` of a `Lumigo` resource. Then check firewalls and NetworkPolicies.',
  },
  {
    name: 'LumigoWebhookCertificateExpires',
    // The lifetime of a certificate depends on its issuer. The operator and most issuers renew it in its last third.
    expr: `${certificate('expiry')} - time() < 2 / 3 * (${certificate('expiry')} - ${certificate('renewal')})`,
    ...{ for: '1h', severity: 'warning' },
    summary: 'The certificate of the Lumigo webhook is due for renewal and was not renewed.',
    action:
      "With cert-manager, describe the Certificate in the operator's namespace. With `external`, renew the Secret. Otherwise read the manager's log.",
  },
  {
    name: 'LumigoInjectionsMissed',
    expr: `increase(${metric('missed_injections_total')}[30m]) > 0`,
    ...{ for: '30m', severity: 'warning' },
    summary: 'The Lumigo webhook keeps missing workloads, which then restart once more than necessary.',
    action:
      'Read the condition `WebhookReachable`. If it is True, the webhook answers too late: compare `lumigo_operator_admission_review_seconds` with `webhook.timeoutSeconds`.',
  },
  {
    name: 'LumigoAdmissionReviewsFail',
    expr: `increase(${metric('admission_reviews_total')}{outcome="failed"}[15m]) > 0`,
    severity: 'warning',
    summary: 'The Lumigo webhook failed to decide about workloads, which were admitted unchanged.',
    action: "This is a defect of the operator. Report it with the error from the manager's log.",
  },
  {
    name: 'LumigoInstrumentationReverted',
    expr: `max by (namespace) (${metric('rollout_workloads')}{state="reverted"}) > 0`,
    ...{ for: '5m', severity: 'warning' },
    summary: 'The Lumigo operator reverted workloads of this namespace because their pods failed with the injection.',
    action:
      'List them with `kubectl get deploy,ds,sts,rs,cj -n NAMESPACE -l lumigo.rollout=reverted`. Their events have container, reason and exit code.',
  },
  {
    name: 'LumigoTelemetryProxyReloadFails',
    expr: `increase(${metric('telemetry_proxy_reloads_total')}{outcome="failed"}[15m]) > 0`,
    ...{ for: '15m', severity: 'warning' },
    summary:
      'The Lumigo telemetry proxy rejects its configuration, so Kubernetes events and objects are not collected.',
    action: 'Read the condition `TelemetryProxyReady` of a `Lumigo` resource, and the log of the telemetry proxy.',
  },
  {
    name: 'LumigoTelemetryDropped',
    expr: 'sum by (pod) (increase(otelcol_exporter_enqueue_failed_spans[15m])) > 0 or sum by (pod) (increase(otelcol_exporter_enqueue_failed_log_records[15m])) > 0',
    ...{ for: '5m', severity: 'warning' },
    summary: 'A Lumigo telemetry proxy drops data: its queue is full because Lumigo accepts less than workloads send.',
    action:
      'Check that the pod reaches `endpoint.otlp.url` and that Lumigo does not throttle a token. Raise `controllerManager.telemetryProxy.queue` for longer outages.',
  },
  {
    name: 'LumigoTokenRefused',
    expr: `max by (namespace) (${metric('refused_tokens')}) > 0`,
    ...{ for: '5m', severity: 'warning' },
    summary: 'Lumigo refuses the token of this namespace, so its telemetry is dropped.',
    action: 'Put a valid token into the Secret of the namespace, then restart its workloads.',
  },
];

export const alertSections = (): string =>
  alerts
    .map(({ name, expr, for: held, severity, summary, action }) => {
      const when = held === undefined ? 'at once' : `after ${held}`;
      return `### ${name}\n\n${summary} ${action}\n\nSeverity ${severity}, fires ${when}:\n\n\`\`\`promql\n${expr}\n\`\`\``;
    })
    .join('\n\n');
