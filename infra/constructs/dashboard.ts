interface Panel {
  readonly title: string;
  readonly exprs: readonly string[];
  readonly unit?: string;
}

const rate = (name: string, by: string): string => `sum by (${by}) (rate(lumigo_operator_${name}[$__rate_interval]))`;

const spans = (...names: readonly string[]): readonly string[] =>
  names.map((name) => `sum(rate(${name}[$__rate_interval]))`);

export const panels: readonly Panel[] = [
  { title: 'Leading replicas (expected: 1)', exprs: ['sum(lumigo_operator_leader)'] },
  { title: 'Webhook reachable from the API server', exprs: ['lumigo_operator_webhook_reachable'] },
  { title: 'Admission reviews', exprs: [rate('admission_reviews_total', 'webhook, outcome')], unit: 'reqps' },
  {
    title: 'Admission review duration, 99th percentile',
    exprs: [`histogram_quantile(0.99, ${rate('admission_review_seconds_bucket', 'le, webhook')})`],
    unit: 's',
  },
  { title: 'Workloads changed', exprs: [rate('workload_changes_total', 'change')], unit: 'ops' },
  { title: 'Workloads waiting for a change', exprs: ['sum by (namespace) (lumigo_operator_pending_changes)'] },
  {
    title: 'Workloads missed by the webhook',
    exprs: ['sum(increase(lumigo_operator_missed_injections_total[$__rate_interval]))'],
  },
  { title: 'Requests to the API server', exprs: [rate('api_requests_total', 'verb, code')], unit: 'reqps' },
  {
    title: 'Spans received and sent',
    exprs: spans('otelcol_receiver_accepted_spans', 'otelcol_exporter_sent_spans'),
    unit: 'ops',
  },
  {
    title: 'Spans refused or failed to send',
    exprs: spans('otelcol_receiver_refused_spans', 'otelcol_exporter_send_failed_spans'),
    unit: 'ops',
  },
  { title: 'Telemetry waiting on disk', exprs: ['sum by (pod) (otelcol_exporter_queue_size)'], unit: 'bytes' },
  {
    title: 'Refused tokens',
    exprs: ['sum by (namespace) (lumigo_operator_refused_tokens)'],
  },
  {
    title: 'Resident memory',
    exprs: ['process_resident_memory_bytes and on (pod) lumigo_operator_leader'],
    unit: 'bytes',
  },
  {
    title: 'Days until the webhook certificate expires',
    exprs: ['(lumigo_operator_webhook_certificate_expiry_timestamp_seconds - time()) / 86400'],
    unit: 'd',
  },
];

const [WIDTH, HEIGHT] = [12, 7];
const datasource = { type: 'prometheus', uid: '${datasource}' };

/** Returns a Grafana dashboard of every installation that the chosen Prometheus scrapes. */
export const dashboard = (): object => ({
  ...{ title: 'Lumigo operator', uid: 'lumigo-operator', tags: ['lumigo'], schemaVersion: 39, refresh: '1m' },
  time: { from: 'now-6h', to: 'now' },
  templating: { list: [{ name: 'datasource', type: 'datasource', query: 'prometheus' }] },
  panels: panels.map(({ title, exprs, unit = 'short' }, index) => ({
    ...{ id: index + 1, title, type: 'timeseries', datasource },
    gridPos: { x: (index % 2) * WIDTH, y: Math.floor(index / 2) * HEIGHT, w: WIDTH, h: HEIGHT },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: exprs.map((expr, target) => ({ refId: `${target + 1}`, datasource, expr })),
  })),
});
