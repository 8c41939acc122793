import { beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBinaries } from '../../sandbox/programs/build.ts';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';
import { alertRules, alerts } from './alerts.ts';
import { panels } from './dashboard.ts';

/** Prometheus' own evaluation of the rules. Each series is from the time 0 on, with a value each minute. */
type Series = Readonly<Record<string, string>>;
type Labels = Readonly<Record<string, string>>;

interface Case {
  readonly fires: Series;
  /** Another cause, which alone makes it fire as well. */
  readonly alsoFires?: Series;
  readonly as: Labels;
  readonly quiet: Series;
}

const END_MINUTES = 120;
const always = (value: number): string => `${value}x${END_MINUTES}`;
const rising = `0+1x${END_MINUTES}`;
const watching = `0+60x${END_MINUTES}`;
const inShop = { namespace: 'shop' };
const inPod = { pod: 'a' };
const onLeader = 'lumigo_operator_leader{pod="a"}';
const failedReloads = 'lumigo_operator_telemetry_proxy_reloads_total{pod="a",outcome="failed"}';
const pendingReload = 'lumigo_operator_telemetry_proxy_reload_pending{pod="a"}';
const certificate = (expiry: number, renewal: number): Series => ({
  'lumigo_operator_webhook_certificate_expiry_timestamp_seconds{pod="a"}': always(expiry),
  'lumigo_operator_webhook_certificate_renewal_timestamp_seconds{pod="a"}': always(renewal),
});

const queue = (pod: string, size: number): Series => ({
  [`otelcol_exporter_queue_size{pod="${pod}",data_type="logs"}`]: always(size),
  [`otelcol_exporter_queue_capacity{pod="${pod}",data_type="logs"}`]: always(100),
});

const cases: Readonly<Record<string, Case>> = {
  LumigoOperatorWithoutLeader: {
    fires: { 'lumigo_operator_leader{namespace="shop",pod="a"}': always(0) },
    as: inShop,
    quiet: {
      'lumigo_operator_leader{namespace="shop",pod="a"}': always(0),
      'lumigo_operator_leader{namespace="shop",pod="b"}': always(1),
    },
  },
  LumigoWatchSilent: {
    fires: {
      'lumigo_operator_watch_heard_timestamp_seconds{pod="a",resource="pods"}': always(0),
      [onLeader]: always(1),
    },
    as: { pod: 'a', resource: 'pods' },
    quiet: {
      'lumigo_operator_watch_heard_timestamp_seconds{pod="a",resource="pods"}': watching,
      'lumigo_operator_watch_heard_timestamp_seconds{pod="b",resource="pods"}': always(0),
      [onLeader]: always(1),
      'lumigo_operator_leader{pod="b"}': always(0),
    },
  },
  LumigoWebhookUnreachable: {
    fires: { 'lumigo_operator_webhook_reachable{pod="a"}': always(0), [onLeader]: always(1) },
    as: inPod,
    quiet: { 'lumigo_operator_webhook_reachable{pod="a"}': always(0), [onLeader]: always(0) },
  },
  LumigoWebhookCertificateExpires: { fires: certificate(9_000, 300), as: inPod, quiet: certificate(9_000, 7_000) },
  LumigoInjectionsMissed: {
    fires: { 'lumigo_operator_missed_injections_total{pod="a"}': rising },
    as: inPod,
    quiet: { 'lumigo_operator_missed_injections_total{pod="a"}': '0x100 1x20' },
  },
  LumigoAdmissionReviewsFail: {
    fires: { 'lumigo_operator_admission_reviews_total{pod="a",outcome="failed"}': rising },
    as: { pod: 'a', outcome: 'failed' },
    quiet: { 'lumigo_operator_admission_reviews_total{pod="a",outcome="patched"}': rising },
  },
  LumigoWorkloadsReverted: {
    fires: { 'lumigo_operator_rollout_workloads{namespace="shop",state="reverted",pod="a"}': always(2) },
    as: inShop,
    quiet: { 'lumigo_operator_rollout_workloads{namespace="shop",state="blocked",pod="a"}': always(2) },
  },
  LumigoRolloutHalted: {
    fires: { 'lumigo_operator_rollout_halted{namespace="shop",pod="a"}': always(1) },
    as: inShop,
    quiet: { 'lumigo_operator_rollout_halted{namespace="shop",pod="a"}': '0x117 1x2' },
  },
  LumigoTelemetryProxyReloadFails: {
    fires: { [failedReloads]: rising, [pendingReload]: always(1) },
    // Later attempts are half an hour apart.
    alsoFires: { [failedReloads]: '0x25 1x31 2x31 3x31', [pendingReload]: always(1) },
    as: { pod: 'a', outcome: 'failed' },
    quiet: {
      [failedReloads]: rising,
      [pendingReload]: always(0),
      'lumigo_operator_telemetry_proxy_reloads_total{pod="b",outcome="taken"}': rising,
      'lumigo_operator_telemetry_proxy_reload_pending{pod="b"}': always(1),
    },
  },
  LumigoTelemetryDropped: {
    fires: { 'otelcol_exporter_enqueue_failed_metric_points{pod="a",exporter="otlphttp/lumigo/b"}': rising },
    alsoFires: { 'otelcol_exporter_send_failed_log_records{pod="a",exporter="otlphttp/lumigo"}': rising },
    as: inPod,
    quiet: {
      'otelcol_exporter_enqueue_failed_spans{pod="a",exporter="otlphttp/lumigo"}': always(5),
      'otelcol_exporter_send_failed_spans{pod="a",exporter="otlphttp/to/shop"}': rising,
      // Another collector, of another program.
      'otelcol_exporter_enqueue_failed_spans{pod="b",exporter="otlphttp"}': rising,
    },
  },
  LumigoNodeCollectorBehind: {
    fires: queue('lumigo-node-collector-x', 60),
    as: { pod: 'lumigo-node-collector-x' },
    quiet: { ...queue('lumigo-node-collector-x', 40), ...queue('lumigo-controller-manager-y', 90) },
  },
  LumigoWorkloadsSilent: {
    fires: { 'lumigo_operator_telemetry_workloads{namespace="shop",telemetry="silent",pod="a"}': always(2) },
    as: inShop,
    quiet: { 'lumigo_operator_telemetry_workloads{namespace="shop",telemetry="awaited",pod="a"}': always(2) },
  },
  LumigoTokenRefused: {
    fires: { 'lumigo_operator_refused_tokens{namespace="shop",pod="a"}': always(1) },
    as: inShop,
    quiet: { 'lumigo_operator_refused_tokens{namespace="shop",pod="a"}': always(0) },
  },
};

let promtool = '';
const folder = createTemporaryFolder();
beforeAll(async () => {
  ({ promtool = '' } = await ensureBinaries(['promtool']));
}, 600_000);

/** Returns the text with the labels of its series. A value in a text is 2, as in the series above. */
const rendered = (text: string, labels: Labels): string =>
  text
    .replaceAll('{{ $value }}', '2')
    .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_all, name: string) => `${labels[name]}`);

type Rule = ReturnType<typeof alertRules>[number];

/** Returns what an alert looks like while it fires for the series. */
function firingAs({ labels, annotations }: Rule, as: Labels) {
  const texts = Object.entries(annotations).map(([key, text]) => [key, rendered(text, { ...as, ...labels })]);
  return [{ exp_labels: { ...as, ...labels }, exp_annotations: Object.fromEntries(texts) as Labels }];
}

/** Returns what `promtool test rules` prints if the alert does not fire as expected, with and without its cause. */
function judge(rule: Rule, { fires, alsoFires = fires, as, quiet }: Case): string {
  const firing = firingAs(rule, as);
  const tests = (
    [
      [fires, firing],
      [alsoFires, firing],
      [quiet, []],
    ] as const
  ).map(([series, expected]) => toTest(rule, series, [[END_MINUTES, expected]]));
  return complaintAbout([rule], tests);
}

function toTest({ alert }: Rule, series: Series, moments: readonly (readonly [number, readonly object[]])[]) {
  const judged = moments.map(([minute, exp_alerts]) => ({ eval_time: `${minute}m`, alertname: alert, exp_alerts }));
  return { interval: '1m', input_series: toInput(series), alert_rule_test: judged };
}

const toInput = (all: Series) => Object.entries(all).map(([series, values]) => ({ series, values }));

function complaintAbout(rules: readonly Rule[], tests: readonly object[]): string {
  writeFileSync(join(folder, 'rules.json'), JSON.stringify({ groups: [{ name: 'lumigo', rules }] }));
  writeFileSync(join(folder, 'tests.json'), JSON.stringify({ rule_files: ['rules.json'], tests }));
  return complaint('test', 'rules', 'tests.json');
}

function complaint(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(promtool, args, { cwd: folder, encoding: 'utf8' });
  return status === 0 ? '' : stdout + stderr;
}

const nothing: Case = { fires: {}, as: {}, quiet: {} };

describe('an alert, as Prometheus evaluates it', () => {
  it.each(alertRules().map((rule) => [rule.alert, rule] as const))(
    '%s fires for its cause, names it, and is quiet otherwise',
    (name, rule) => expect(judge(rule, cases[name] ?? nothing)).toBe(''),
  );

  it.each(['LumigoWorkloadsReverted', 'LumigoRolloutHalted', 'LumigoTokenRefused', 'LumigoWorkloadsSilent'])(
    '%s outlasts a change of the leader, and ends soon after its cause',
    (name) => {
      const [rule] = alertRules(alerts.filter((alert) => alert.name === name));
      const [shown = ''] = Object.keys(cases[name]?.fires ?? {});
      const series = { [shown]: '2x60 stale', [shown.replace('pod="a"', 'pod="b"')]: '_x64 2x20 stale' };
      const firing = rule && firingAs(rule, inShop);
      const moments = [60, 62, 65, 66, 70, 86, 90].map((minute) => [minute, firing ?? []] as const);
      expect(rule && complaintAbout([rule], [toTest(rule, series, [[4, []], ...moments, [100, []]])])).toBe('');
    },
  );

  it('fails this test if it does not fire', () => {
    const [rule] = alertRules();
    expect(rule && judge(rule, { ...nothing, fires: cases['LumigoTokenRefused']?.fires ?? {} })).toContain('FAILED');
  });
});

describe('the expressions of docs/operate/updater.md, as Prometheus evaluates them', () => {
  const [failed = '', late = ''] = readFileSync('docs/operate/updater.md', 'utf8')
    .split('```promql\n')
    .slice(1)
    .map((rest) => rest.split('```')[0] ?? '');
  const labelsOf = '{namespace="lumigo-system",cronjob="lumigo-lumigo-operator-updater"}';
  const created = `kube_cronjob_created${labelsOf}`;
  const succeeded = `kube_cronjob_status_last_successful_time${labelsOf}`;
  const job = 'kube_job_status_failed{namespace="lumigo-system",job_name="lumigo-lumigo-operator-updater-29"}';

  it.each<[string, string, Series, number]>([
    ['fires if a run failed', failed, { [job]: always(1) }, 1],
    ['is quiet if no run failed', failed, { [job]: always(0) }, 0],
    ['fires if the last success was four days ago', late, { [created]: '0x200', [succeeded]: '0x200' }, 1],
    ['is quiet if it was two days ago', late, { [created]: '0x200', [succeeded]: '172800x200' }, 0],
    ['fires if no run succeeded in the four days since the creation', late, { [created]: '0x200' }, 1],
    ['is quiet if the creation was two days ago', late, { [created]: '172800x200' }, 0],
  ])('one %s', (_when, expr, series, value) => {
    const query = { expr: `count(${expr}) or vector(0)`, eval_time: '96h', exp_samples: [{ labels: '{}', value }] };
    const test = { interval: '1h', input_series: toInput(series), promql_expr_test: [query] };
    expect(complaintAbout([], [test])).toBe('');
  });
});

describe('the dashboard, as Prometheus parses it', () => {
  const check = (...queries: readonly string[]): string => {
    const rules = queries.map((expr, index) => ({ record: `query_${index}`, expr }));
    writeFileSync(join(folder, 'queries.json'), JSON.stringify({ groups: [{ name: 'queries', rules }] }));
    return complaint('check', 'rules', 'queries.json');
  };

  it('has only queries in PromQL', () => {
    const queries = panels.flatMap((panel) => panel.queries.map(([expr]) => expr));
    // Grafana replaces the variable before it sends the query.
    expect(check(...queries.map((expr) => expr.replaceAll('$__rate_interval', '5m')))).toBe('');
    expect(check('sum by (x (y)')).toContain('could not parse expression');
  });
});
