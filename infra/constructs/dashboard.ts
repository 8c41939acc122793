interface Panel {
  readonly title: string;
  readonly description: string;
  /** A unit of Grafana. Default: `short`, a number. */
  readonly unit?: string;
  /** A legend is the name of a series, in Grafana's format: `{{pod}}`. */
  readonly queries: readonly (readonly [expr: string, legend: string])[];
}

const ofPods = (metric: string): string => `${metric}{pod=~"$pod"}`;
const ofNamespaces = (metric: string): string => `lumigo_operator_${metric}{namespace=~"$namespace"}`;

const rate = (metric: string, by: string): string =>
  `sum by (${by}) (rate(${ofPods(`lumigo_operator_${metric}`)}[$__rate_interval]))`;
const total = (metric: string): string => `sum(rate(${ofPods(metric)}[$__rate_interval]))`;
const ofNodes = (metric: string): string =>
  `sum by (pod) (rate(${metric}{pod=~".+-node-collector-.+"}[$__rate_interval]))`;
const highest = (metric: string): string => `max by (namespace) (${ofNamespaces(metric)})`;

export const panels: readonly Panel[] = [
  {
    title: 'Leading replicas',
    description: 'Exactly one replica leads. If none does, nothing reconciles workloads.',
    queries: [['sum(lumigo_operator_leader)', 'leaders']],
  },
  {
    title: 'Webhook reachable',
    description: '1 if the API server reached the webhook at the last probe. Only the leader probes.',
    queries: [[ofPods('lumigo_operator_webhook_reachable'), '{{pod}}']],
  },
  {
    title: 'Admission reviews',
    description: 'Answers of the webhook by outcome. `failed` is a defect of the operator.',
    unit: 'reqps',
    queries: [[rate('admission_reviews_total', 'webhook, outcome'), '{{webhook}} {{outcome}}']],
  },
  {
    title: 'Admission review duration, 99th percentile',
    description: 'The time to decide a review. The API server waits for `webhook.timeoutSeconds` at most.',
    unit: 's',
    queries: [[`histogram_quantile(0.99, ${rate('admission_review_seconds_bucket', 'le, webhook')})`, '{{webhook}}']],
  },
  {
    title: 'Workloads in the rollout',
    description: 'Workloads that are changed, queued, blocked or reverted. The condition `RolledOut` names them.',
    queries: [[`max by (namespace, state) (${ofNamespaces('rollout_workloads')})`, '{{namespace}} {{state}}']],
  },
  {
    title: 'Halted rollouts',
    description: '1 for a namespace whose rollout is halted after reverts.',
    queries: [[highest('rollout_halted'), '{{namespace}}']],
  },
  {
    title: 'Workloads changed',
    description: 'Changes of the reconciler: injections added, updated and removed.',
    unit: 'ops',
    queries: [[rate('workload_changes_total', 'change'), '{{change}}']],
  },
  {
    title: 'Reverted injections',
    description: 'Injections that the operator removed because pods failed, by cause.',
    queries: [[`sum by (cause) (increase(${ofPods('lumigo_operator_reverts_total')}[$__rate_interval]))`, '{{cause}}']],
  },
  {
    title: 'Workloads waiting for a change',
    description: 'Workloads with a change that is queued or in progress.',
    queries: [[highest('pending_changes'), '{{namespace}}']],
  },
  {
    title: 'Workloads missed by the webhook',
    description: 'Workloads that were created without the injection and restart once more.',
    queries: [[`sum(increase(${ofPods('lumigo_operator_missed_injections_total')}[$__rate_interval]))`, 'missed']],
  },
  {
    title: 'Requests to the API server',
    description: 'Requests of the manager by verb and HTTP status. The code 0 means no answer.',
    unit: 'reqps',
    queries: [[rate('api_requests_total', 'verb, code'), '{{verb}} {{code}}']],
  },
  {
    title: 'Spans received and sent',
    description: 'Spans that programs sent to the telemetry proxies, and that these sent to Lumigo.',
    unit: 'ops',
    queries: [
      [total('otelcol_receiver_accepted_spans'), 'received'],
      [total('otelcol_exporter_sent_spans'), 'sent'],
    ],
  },
  {
    title: 'Spans refused or failed to send',
    description: 'Spans refused for lack of memory, or by Lumigo for good. Spans that are retried wait on disk.',
    unit: 'ops',
    queries: [
      [total('otelcol_receiver_refused_spans'), 'refused'],
      [total('otelcol_exporter_send_failed_spans'), 'failed'],
    ],
  },
  {
    title: 'Telemetry waiting on disk',
    description: 'Data that waits until Lumigo accepts it. If a queue is full, new data is dropped.',
    unit: 'bytes',
    queries: [[`sum by (pod) (${ofPods('otelcol_exporter_queue_size')})`, '{{pod}}']],
  },
  {
    title: 'Log lines of nodes, read and sent',
    description: 'Lines that the node collectors read, and that the telemetry proxy accepted from them.',
    unit: 'ops',
    queries: [
      [ofNodes('otelcol_receiver_accepted_log_records'), '{{pod}} read'],
      [ofNodes('otelcol_exporter_sent_log_records'), '{{pod}} sent'],
    ],
  },
  {
    title: 'Refused tokens',
    description: '1 for a namespace whose token Lumigo refuses. Its telemetry is dropped.',
    queries: [[highest('refused_tokens'), '{{namespace}}']],
  },
  {
    title: 'Resident memory',
    description: 'Memory of the managers.',
    unit: 'bytes',
    queries: [[`${ofPods('process_resident_memory_bytes')} and on (pod) lumigo_operator_leader`, '{{pod}}']],
  },
  {
    title: 'Days until the webhook certificate expires',
    description: 'The operator renews its certificates 30 days before they expire.',
    unit: 'd',
    queries: [
      [`(${ofPods('lumigo_operator_webhook_certificate_expiry_timestamp_seconds')} - time()) / 86400`, '{{pod}}'],
    ],
  },
];

const WIDTH = 12;
const HEIGHT = 7;
const datasource = { type: 'prometheus', uid: '${datasource}' };

/** A variable with all values of a label, from the series that the dashboard shows. */
const variable = (name: 'namespace' | 'pod', series: string) => ({
  name,
  label: name,
  type: 'query',
  datasource,
  query: `label_values(${series}, ${name})`,
  // Grafana asks again if the time range changes.
  refresh: 2,
  includeAll: true,
  multi: true,
  current: { text: 'All', value: '$__all' },
});

/** Returns a Grafana dashboard of every installation that the chosen Prometheus scrapes. */
export const dashboard = (): object => ({
  title: 'Lumigo operator',
  uid: 'lumigo-operator',
  tags: ['lumigo'],
  schemaVersion: 39,
  refresh: '1m',
  time: { from: 'now-6h', to: 'now' },
  templating: {
    list: [
      { name: 'datasource', label: 'data source', type: 'datasource', query: 'prometheus' },
      // For pods, `All` means the values of the variable, so other collectors do not count.
      { ...variable('namespace', '{__name__=~"lumigo_operator_(rollout|pending|refused)_.*"}'), allValue: '.*' },
      variable('pod', 'lumigo_operator_leader'),
    ],
  },
  panels: panels.map(({ title, description, queries, unit = 'short' }, index) => ({
    id: index + 1,
    title,
    description,
    type: 'timeseries',
    datasource,
    gridPos: { x: (index % 2) * WIDTH, y: Math.floor(index / 2) * HEIGHT, w: WIDTH, h: HEIGHT },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: queries.map(([expr, legend], target) => ({
      refId: String.fromCharCode(65 + target),
      datasource,
      expr,
      legendFormat: legend,
    })),
  })),
});
