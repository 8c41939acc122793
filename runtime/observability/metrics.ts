import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { paths } from '../contract.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/** What a review ends in, and a configuration that the telemetry proxy was to take up. */
const outcomes = { review: ['patched', 'unchanged', 'refused', 'failed'], reload: ['taken', 'failed'] } as const;

export type ReviewOutcome = (typeof outcomes.review)[number];

/** The operator's own metrics, in a registry of their own. docs/operate/monitoring.md lists them. */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 1_000 });
  const counter = <L extends string = never>(name: string, help: string, labelNames: L[] = []) =>
    new Counter({ name, help, labelNames, registers });
  const gauge = <L extends string = never>(name: string, help: string, labelNames: L[] = []) =>
    new Gauge({ name, help, labelNames, registers });
  const metrics = {
    registry,
    reviews: counter(
      'lumigo_operator_admission_reviews_total',
      `Admission reviews answered, by webhook and outcome (${outcomes.review.join(', ')})`,
      ['webhook', 'outcome'],
    ),
    reviewSeconds: new Histogram({
      name: 'lumigo_operator_admission_review_seconds',
      help: 'Time to decide an admission review, without reading it from the network',
      labelNames: ['webhook'],
      buckets: [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 1],
      registers,
    }),
    changes: counter(
      'lumigo_operator_workload_changes_total',
      'Workloads changed by the reconciler (added, updated, removed)',
      ['change'],
    ),
    missedInjections: counter(
      'lumigo_operator_missed_injections_total',
      'Workloads that the webhook should have instrumented when they were created, and the reconciler did instead',
    ),
    events: counter('lumigo_operator_events_total', 'Kubernetes events posted, by reason', ['reason']),
    eventsDropped: counter(
      'lumigo_operator_events_dropped_total',
      'Kubernetes events given up because the API server refuses them or too many wait, by reason',
      ['reason'],
    ),
    pendingChanges: gauge('lumigo_operator_pending_changes', 'Workloads that wait for a change or are being changed', [
      'namespace',
    ]),
    rolloutWorkloads: gauge(
      'lumigo_operator_rollout_workloads',
      'Workloads that are on their way to be instrumented, by state (underWay, queued, blocked, reverted); only the leader knows',
      ['namespace', 'state'],
    ),
    reverts: counter(
      'lumigo_operator_reverts_total',
      'Injections that were put back because of what their pods did, by cause',
      ['cause'],
    ),
    evictions: counter(
      'lumigo_operator_evictions_total',
      'Pods in Pod mode whose eviction was asked for, by outcome (evicted, kept by a disruption budget, failed)',
      ['outcome'],
    ),
    leader: gauge(
      'lumigo_operator_leader',
      '1 while this replica leads (reconciles), 0 while it only serves the webhook',
    ),
    webhookReachable: gauge(
      'lumigo_operator_webhook_reachable',
      '1 when the last probe through the API server reached the webhook, 0 when it did not; only the leader knows',
    ),
    telemetryReloads: counter(
      'lumigo_operator_telemetry_proxy_reloads_total',
      `Configurations that the telemetry proxy was to take up, by outcome (${outcomes.reload.join(', ')})`,
      ['outcome'],
    ),
    telemetryCollected: gauge(
      'lumigo_operator_telemetry_collected_namespaces',
      'Namespaces whose Kubernetes events and objects the telemetry proxy of this replica collects',
    ),
    telemetryPending: gauge(
      'lumigo_operator_telemetry_proxy_reload_pending',
      '1 while the telemetry proxy of this replica is still to take up a configuration, 0 when it does what it should',
    ),
    telemetryTokens: gauge(
      'lumigo_operator_telemetry_tokens',
      'Tokens that the telemetry proxy of this replica lets in',
    ),
    refusedTokens: gauge(
      'lumigo_operator_refused_tokens',
      '1 for a namespace whose token the endpoint refuses; only the leader knows',
      ['namespace'],
    ),
    formerTokenPods: gauge(
      'lumigo_operator_former_token_pods',
      'Pods that run with a token which was replaced in its Secret; only the leader knows',
      ['namespace'],
    ),
    certificateExpiry: gauge(
      'lumigo_operator_webhook_certificate_expiry_timestamp_seconds',
      'When the certificate that the webhook serves ends',
    ),
    certificateRenewal: gauge(
      'lumigo_operator_webhook_certificate_renewal_timestamp_seconds',
      'When the certificate that the webhook serves is to be renewed: a third of its life before it ends, or 30 days',
    ),
    newerVersion: gauge(
      'lumigo_operator_newer_version_available',
      '1 when the updater has found a newer version of the operator within the range, which is the label; 0 when it has not',
      ['version'],
    ),
    updateCheck: gauge(
      'lumigo_operator_update_check_timestamp_seconds',
      'When the updater last could look for a newer version; 0: never, or there is no updater',
    ),
    updateCheckDue: gauge(
      'lumigo_operator_update_check_due_timestamp_seconds',
      'By when, as its schedule has it, the updater is to have looked again; 0: it never looked, or there is no updater',
    ),
    apiRequests: counter(
      'lumigo_operator_api_requests_total',
      'Requests to the API server, by verb, resource and HTTP status (0: no answer)',
      ['verb', 'resource', 'code'],
    ),
    objectsSkipped: counter(
      'lumigo_operator_api_objects_skipped_total',
      'Objects that a watch skipped because they have more than 1 MiB, by resource',
      ['resource'],
    ),
    watchHeard: gauge(
      'lumigo_operator_watch_heard_timestamp_seconds',
      'When a watch last told something: a change, or that there is none, which comes about once a minute; by resource',
      ['resource'],
    ),
    watchRestarts: counter('lumigo_operator_watch_restarts_total', 'Watches begun anew, by resource and cause', [
      'resource',
      'cause',
    ]),
  };
  beginAtZero(metrics);
  return metrics;
}

/** Prometheus sees no rise in a series that begins at 1, so what is alerted on has to be there before its first failure. */
function beginAtZero({ reviews, telemetryReloads }: Pick<Metrics, 'reviews' | 'telemetryReloads'>): void {
  for (const webhook of [paths.inject, paths.lumigoes, paths.pods])
    for (const outcome of outcomes.review) reviews.inc({ webhook, outcome }, 0);
  for (const outcome of outcomes.reload) telemetryReloads.inc({ outcome }, 0);
}
