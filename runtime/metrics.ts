import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

export type Metrics = ReturnType<typeof createMetrics>;

/** Everything the operator counts about itself, in a registry of its own; docs/operations.md says what to watch and alert on. */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 1_000 });
  return {
    registry,
    reviews: new Counter({
      name: 'lumigo_operator_admission_reviews_total',
      help: 'Admission reviews answered, by webhook and outcome (patched, unchanged, refused, failed)',
      labelNames: ['webhook', 'outcome'],
      registers,
    }),
    reviewSeconds: new Histogram({
      name: 'lumigo_operator_admission_review_seconds',
      help: 'Time to decide an admission review, without reading it from the network',
      labelNames: ['webhook'],
      buckets: [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 1],
      registers,
    }),
    changes: new Counter({
      name: 'lumigo_operator_workload_changes_total',
      help: 'Workloads changed by the reconciler (added, updated, removed)',
      labelNames: ['change'],
      registers,
    }),
    missedInjections: new Counter({
      name: 'lumigo_operator_missed_injections_total',
      help: 'Workloads that the webhook should have instrumented when they were created, and the reconciler did instead',
      registers,
    }),
    events: new Counter({
      name: 'lumigo_operator_events_total',
      help: 'Kubernetes events posted, by reason',
      labelNames: ['reason'],
      registers,
    }),
    eventsDropped: new Counter({
      name: 'lumigo_operator_events_dropped_total',
      help: 'Kubernetes events given up because the API server refuses them or too many wait, by reason',
      labelNames: ['reason'],
      registers,
    }),
    pendingChanges: new Gauge({
      name: 'lumigo_operator_pending_changes',
      help: 'Workloads that wait for a change or are being changed',
      labelNames: ['namespace'],
      registers,
    }),
    leader: new Gauge({
      name: 'lumigo_operator_leader',
      help: '1 while this replica leads (reconciles), 0 while it only serves the webhook',
      registers,
    }),
    webhookReachable: new Gauge({
      name: 'lumigo_operator_webhook_reachable',
      help: '1 when the last probe through the API server reached the webhook, 0 when it did not; only the leader knows',
      registers,
    }),
    telemetryReloads: new Counter({
      name: 'lumigo_operator_telemetry_proxy_reloads_total',
      help: 'Configurations that the telemetry proxy was to take up, by outcome (taken, failed)',
      labelNames: ['outcome'],
      registers,
    }),
    telemetryCollected: new Gauge({
      name: 'lumigo_operator_telemetry_collected_namespaces',
      help: 'Namespaces whose Kubernetes events and objects the telemetry proxy of this replica collects',
      registers,
    }),
    telemetryTokens: new Gauge({
      name: 'lumigo_operator_telemetry_tokens',
      help: 'Tokens that the telemetry proxy of this replica lets in',
      registers,
    }),
    certificateExpiry: new Gauge({
      name: 'lumigo_operator_webhook_certificate_expiry_timestamp_seconds',
      help: 'When the certificate that the webhook serves ends',
      registers,
    }),
    apiRequests: new Counter({
      name: 'lumigo_operator_api_requests_total',
      help: 'Requests to the API server, by verb, resource and HTTP status (0: no answer)',
      labelNames: ['verb', 'resource', 'code'],
      registers,
    }),
    watchRestarts: new Counter({
      name: 'lumigo_operator_watch_restarts_total',
      help: 'Watches begun anew, by resource and cause',
      labelNames: ['resource', 'cause'],
      registers,
    }),
  };
}
