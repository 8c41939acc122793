import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry, type HistogramConfiguration } from 'prom-client';
import { paths } from '../contract.ts';
import { causes } from '../rollout/evidence.ts';

export type Metrics = ReturnType<typeof createMetrics>;

const outcomes = { review: ['patched', 'unchanged', 'refused', 'failed'], reload: ['taken', 'failed'] } as const;
const changes = ['added', 'updated', 'removed'];

export type ReviewOutcome = (typeof outcomes.review)[number];

type Make = ReturnType<typeof makeIn>;

const makeIn = (...registers: Registry[]) => ({
  counter: <L extends string = never>(name: string, help: string, labelNames: L[] = []) =>
    new Counter({ name, help, labelNames, registers }),
  gauge: <L extends string = never>(name: string, help: string, labelNames: L[] = []) =>
    new Gauge({ name, help, labelNames, registers }),
  histogram: <L extends string>(options: HistogramConfiguration<L>) => new Histogram({ ...options, registers }),
});

/** docs/reference/metrics.md lists the metrics. */
export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 1_000 });
  const make = makeIn(registry);
  const metrics = { registry, ...ofWebhook(make), ...ofReconciler(make), ...ofTelemetry(make), ...ofApiServer(make) };
  beginAtZero(metrics);
  // A gauge without labels begins at 0, which is no value of these.
  for (const gauge of [metrics.webhookReachable, metrics.certificateExpiry, metrics.certificateRenewal]) gauge.remove();
  return metrics;
}

const ofWebhook = ({ counter, gauge, histogram }: Make) => ({
  reviews: counter(
    'lumigo_operator_admission_reviews_total',
    `Admission reviews answered, by webhook and outcome (${outcomes.review.join(', ')})`,
    ['webhook', 'outcome'],
  ),
  reviewSeconds: histogram({
    name: 'lumigo_operator_admission_review_seconds',
    help: 'Time to decide an admission review, excluding the read from the network',
    labelNames: ['webhook'],
    buckets: [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 1],
  }),
  webhookReachable: gauge(
    'lumigo_operator_webhook_reachable',
    '1 if the last probe through the API server reached the webhook, otherwise 0; only the leader reports it, if a Lumigo resource injects workloads',
  ),
  certificateExpiry: gauge(
    'lumigo_operator_webhook_certificate_expiry_timestamp_seconds',
    'Time when the certificate of the webhook expires',
  ),
  certificateRenewal: gauge(
    'lumigo_operator_webhook_certificate_renewal_timestamp_seconds',
    'Time when the certificate of the webhook is due for renewal: a third of its validity, or 30 days, before it expires',
  ),
});

const ofReconciler = ({ counter, gauge }: Make) => ({
  changes: counter(
    'lumigo_operator_workload_changes_total',
    `Workloads changed by the reconciler (${changes.join(', ')})`,
    ['change'],
  ),
  missedInjections: counter(
    'lumigo_operator_missed_injections_total',
    'New workloads that the webhook missed, so the reconciler instruments them later',
  ),
  events: counter('lumigo_operator_events_total', 'Kubernetes events sent, by reason', ['reason']),
  eventsDropped: counter(
    'lumigo_operator_events_dropped_total',
    'Kubernetes events dropped because the API server rejects them, the queue is full or ten of one object wait, by reason',
    ['reason'],
  ),
  pendingChanges: gauge('lumigo_operator_pending_changes', 'Workloads with a change that is queued or in progress', [
    'namespace',
  ]),
  rolloutWorkloads: gauge(
    'lumigo_operator_rollout_workloads',
    'Workloads in the rollout, by state (underWay, queued, blocked, reverted); only the leader reports it',
    ['namespace', 'state'],
  ),
  rolloutHalted: gauge(
    'lumigo_operator_rollout_halted',
    '1 for a namespace whose rollout is halted after reverts; only the leader reports it',
    ['namespace'],
  ),
  telemetryWorkloads: gauge(
    'lumigo_operator_telemetry_workloads',
    'Instrumented workloads by their telemetry (received, awaited, or silent for too long); only the leader reports it',
    ['namespace', 'telemetry'],
  ),
  reverts: counter('lumigo_operator_reverts_total', 'Injections removed because their pods failed, by cause', [
    'cause',
  ]),
  leader: gauge(
    'lumigo_operator_leader',
    '1 while this replica is the leader and reconciles, 0 while it only serves the webhook',
  ),
});

const ofTelemetry = ({ counter, gauge }: Make) => ({
  telemetryReloads: counter(
    'lumigo_operator_telemetry_proxy_reloads_total',
    `Configuration reloads of the telemetry proxy, by outcome (${outcomes.reload.join(', ')})`,
    ['outcome'],
  ),
  telemetryCollected: gauge(
    'lumigo_operator_telemetry_collected_namespaces',
    "Namespaces whose Kubernetes events and objects this replica's telemetry proxy collects",
  ),
  telemetryPending: gauge(
    'lumigo_operator_telemetry_proxy_reload_pending',
    "1 while this replica's telemetry proxy has a configuration to load, 0 when it is up to date",
  ),
  refusedTokens: gauge(
    'lumigo_operator_refused_tokens',
    '1 for a namespace whose token the endpoint rejects; only the leader reports it',
    ['namespace'],
  ),
});

const ofApiServer = ({ counter, gauge }: Make) => ({
  apiRequests: counter(
    'lumigo_operator_api_requests_total',
    'Requests to the API server, by verb, resource and HTTP status (0: no answer)',
    ['verb', 'resource', 'code'],
  ),
  objectsSkipped: counter(
    'lumigo_operator_api_objects_skipped_total',
    'Objects that a watch skipped above 1 MiB, or a list above 4 MiB of JSON, by resource. Make them smaller',
    ['resource'],
  ),
  watchHeard: gauge(
    'lumigo_operator_watch_heard_timestamp_seconds',
    'Time of the last watch message, which comes at least about once a minute, or of the start of the watch, by resource',
    ['resource'],
  ),
  watchRestarts: counter(
    'lumigo_operator_watch_restarts_total',
    'Watch restarts, by resource and cause. `ended` is normal; `silent` and `disconnected` are problems of the network',
    ['resource', 'cause'],
  ),
});

/** Sets a gauge, and removes a series that would be 0: there may be as many as namespaces. */
export function setUnlessZero<L extends string>(gauge: Gauge<L>, labels: Record<L, string>, value: number): void {
  if (value === 0) gauge.remove(labels);
  else gauge.set(labels, value);
}

/** Prometheus sees no increase in a series that begins at 1, so alerts and dashboards need a series that begins at 0. */
function beginAtZero({ reviews, telemetryReloads, ...metrics }: Metrics): void {
  for (const webhook of [paths.inject, paths.lumigoes])
    for (const outcome of outcomes.review) reviews.inc({ webhook, outcome }, 0);
  for (const outcome of outcomes.reload) telemetryReloads.inc({ outcome }, 0);
  for (const change of changes) metrics.changes.inc({ change }, 0);
  for (const cause of causes) metrics.reverts.inc({ cause }, 0);
}
