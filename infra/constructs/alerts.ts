import { publisher as own, type Publisher } from '../settings/publisher.ts';

/** An alert about the operator. Its page is below docs/ (`alertPage`). */
export interface Alert {
  readonly name: string;
  /** A PromQL expression. The `pod` label distinguishes the managers' series. */
  readonly expr: string;
  readonly for?: string;
  readonly keepFiringFor?: string;
  readonly component: 'manager' | 'webhook' | 'rollout' | 'telemetry-proxy' | 'node-collector';
  readonly summary: string;
  /** Names the series in Prometheus' template language, and says what to do first. */
  readonly description: string;
  /** It informs, and has its own setting, because some clusters have workloads that need not send. */
  readonly isOptional?: true;
}

const metric = (name: string): string => `lumigo_operator_${name}`;
const certificate = (what: string): string => metric(`webhook_certificate_${what}_timestamp_seconds`);
const ofNodes = (gauge: string): string => `${gauge}{pod=~".+-node-collector-.+"}`;
const recent = '{exporter=~"otlphttp/lumigo.*"}[15m]';
/** A full queue drops data, and so does a final answer (`send`). Prometheus may have series of other collectors, with other exporters. */
const droppedIn = (items: string): string[] =>
  ['enqueue', 'send'].map((step) => `sum by (pod) (increase(otelcol_exporter_${step}_failed_${items}${recent})) > 0`);
/** Between two leaders there are no such series, and a new one asks about 20 tokens a minute. */
const inNamespaces = (gauge: string) => ({ expr: `max by (namespace) (${metric(gauge)}) > 0`, keepFiringFor: '10m' });

export const alerts: readonly Alert[] = [
  {
    name: 'LumigoOperatorWithoutLeader',
    expr: `absent(${metric('leader')}) or sum by (namespace) (${metric('leader')}) < 1`,
    for: '10m',
    component: 'manager',
    summary: 'No replica of the Lumigo operator leads, so nothing reconciles workloads and Lumigo resources.',
    description:
      "Check the operator's pods, their logs and the Lease `<name>-leader` in the operator's namespace. New workloads are instrumented as long as one pod is ready.",
  },
  {
    name: 'LumigoWatchSilent',
    expr: `time() - ${metric('watch_heard_timestamp_seconds')} > 600 and on (pod) ${metric('leader')} == 1`,
    for: '5m',
    component: 'manager',
    summary: 'The Lumigo operator has received no watch message for ten minutes, so it misses changes.',
    description:
      "The watch of {{ $labels.resource }} in pod {{ $labels.pod }} is silent. Look for watch errors in its log. Check that the pod reaches the API server and that nothing changed the manager's ClusterRole.",
  },
  {
    name: 'LumigoWebhookUnreachable',
    expr: `${metric('webhook_reachable')} == 0 and on (pod) ${metric('leader')} == 1`,
    for: '10m',
    component: 'webhook',
    summary:
      'The API server does not reach the Lumigo webhook, so new workloads are instrumented later and restart once more.',
    description:
      'Read the condition `WebhookReachable` of a `Lumigo` resource. Then check firewalls and NetworkPolicies.',
  },
  {
    name: 'LumigoWebhookCertificateExpires',
    // The lifetime of a certificate depends on its issuer. The operator and most issuers renew it in its last third.
    expr: `${certificate('expiry')} - time() < 2 / 3 * (${certificate('expiry')} - ${certificate('renewal')})`,
    for: '1h',
    component: 'webhook',
    summary: 'The certificate of the Lumigo webhook is due for renewal and was not renewed.',
    description:
      "With cert-manager, describe the Certificate in the operator's namespace. With `external`, renew the Secret. Otherwise read the log of pod {{ $labels.pod }}.",
  },
  {
    name: 'LumigoInjectionsMissed',
    expr: `increase(${metric('missed_injections_total')}[30m]) > 0`,
    for: '30m',
    component: 'webhook',
    summary: 'The Lumigo webhook keeps missing workloads, which then restart once more than necessary.',
    description:
      'Read the condition `WebhookReachable`. If it is True, the webhook answers too late: compare `lumigo_operator_admission_review_seconds` with `webhook.timeoutSeconds`.',
  },
  {
    name: 'LumigoAdmissionReviewsFail',
    expr: `increase(${metric('admission_reviews_total')}{outcome="failed"}[15m]) > 0`,
    component: 'webhook',
    summary: 'The Lumigo webhook failed to decide about workloads, which were admitted unchanged.',
    description: 'This is a defect of the operator. Report it with the error from the log of pod {{ $labels.pod }}.',
  },
  {
    name: 'LumigoWorkloadsReverted',
    ...inNamespaces('rollout_workloads{state="reverted"}'),
    for: '5m',
    component: 'rollout',
    summary: 'The Lumigo operator reverted workloads because their pods failed with the injection.',
    description:
      '{{ $value }} workloads of the namespace {{ $labels.namespace }} are reverted. Their events `LumigoRevertedInstrumentation` have container, reason and exit code.',
  },
  {
    name: 'LumigoRolloutHalted',
    ...inNamespaces('rollout_halted'),
    for: '5m',
    component: 'rollout',
    summary: 'The Lumigo operator stopped instrumenting workloads because some of them failed with the injection.',
    description:
      'The rollout of the namespace {{ $labels.namespace }} is halted. The condition `RolledOut` of its `Lumigo` resource names the workloads and the causes.',
  },
  {
    name: 'LumigoTelemetryProxyReloadFails',
    expr: `increase(${metric('telemetry_proxy_reloads_total')}{outcome="failed"}[1h]) > 0 and on (pod) ${metric('telemetry_proxy_reload_pending')} == 1`,
    for: '15m',
    component: 'telemetry-proxy',
    summary:
      'The Lumigo telemetry proxy rejects its configuration, so Kubernetes events and objects are not collected.',
    description:
      'Read the condition `TelemetryProxyReady` of a `Lumigo` resource, and the log of the telemetry proxy in pod {{ $labels.pod }}.',
  },
  {
    name: 'LumigoTelemetryDropped',
    expr: ['spans', 'log_records', 'metric_points'].flatMap(droppedIn).join(' or '),
    for: '5m',
    component: 'telemetry-proxy',
    summary: 'A Lumigo telemetry proxy drops data: its queue is full, or Lumigo rejects what it sends.',
    description:
      'The log of the telemetry proxy in pod {{ $labels.pod }} has the answers of `endpoint.otlp.url`. The page of this alert says what to do for each.',
  },
  {
    name: 'LumigoTokenRefused',
    ...inNamespaces('refused_tokens'),
    for: '5m',
    component: 'telemetry-proxy',
    summary: 'Lumigo refuses the token of a namespace, so its telemetry is dropped.',
    description:
      'Put a valid token into the Secret of the namespace {{ $labels.namespace }}, then restart its workloads.',
  },
  {
    name: 'LumigoNodeCollectorBehind',
    expr: `max by (pod) (${ofNodes('otelcol_exporter_queue_size')} / ${ofNodes('otelcol_exporter_queue_capacity')}) > 0.5`,
    for: '5m',
    component: 'node-collector',
    summary: 'The queue of a Lumigo node collector is half full. If it is full, log lines can be lost.',
    description:
      'Check that pod {{ $labels.pod }} reaches the telemetry proxy. If a program of its node writes more than the collector can send, exclude its log files.',
  },
  {
    name: 'LumigoWorkloadsSilent',
    ...inNamespaces('telemetry_workloads{telemetry="silent"}'),
    for: '15m',
    component: 'telemetry-proxy',
    isOptional: true,
    summary: 'Workloads with the Lumigo injection send no telemetry.',
    description:
      '{{ $value }} workloads of the namespace {{ $labels.namespace }} send nothing. The condition `TelemetryReceived` of its `Lumigo` resource names them, with what to check.',
  },
];

export const severityOf = ({ isOptional }: Alert): 'info' | 'warning' => (isOptional ? 'info' : 'warning');

/** Returns the path of an alert's page below docs/. */
export const alertPage = (name: string): string => `operate/alerts/${name}.md`;

/** Returns the alerts as rules of Prometheus. They link to their pages if the publisher has an address for these. */
export const alertRules = (chosen: readonly Alert[] = alerts, { docs }: Publisher = own) =>
  chosen.map((alert) => ({
    alert: alert.name,
    expr: alert.expr,
    for: alert.for,
    keep_firing_for: alert.keepFiringFor,
    labels: { severity: severityOf(alert), component: alert.component },
    annotations: {
      summary: alert.summary,
      description: alert.description,
      ...(docs === '' ? {} : { runbook_url: `${docs}/${alertPage(alert.name)}` }),
    },
  }));
