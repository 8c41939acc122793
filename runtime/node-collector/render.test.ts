import { describe, expect, it } from '@jest/globals';
import { nodeCollectorConfig } from '../../infra/constructs/node-collector-pod.ts';
import { parseSettings } from '../../infra/settings/settings.ts';
import type { NodeCollectorConfig } from '../config/config.ts';
import { essentialMetrics } from './essential-metrics.ts';
import { memoryLimiter, serialize } from './common-parts.ts';
import { renderNodeCollector } from './render.ts';

const all = { logs: { enabled: true }, metrics: { enabled: true } };
const config: NodeCollectorConfig = {
  ...nodeCollectorConfig(parseSettings({ clusterCollection: all })),
  podName: 'pod',
  excludedNamespaces: ['kube-system'],
};
const node = { name: 'worker-1', address: '10.0.0.5' };

interface Scrape {
  readonly job_name: string;
  readonly metrics_path?: string;
  readonly static_configs: readonly { targets: readonly string[]; labels: object }[];
  readonly metric_relabel_configs: readonly { action: string; regex: string }[];
}
type Pipeline = Readonly<Record<'receivers' | 'processors' | 'exporters', readonly string[]>>;
interface Rendered {
  readonly receivers: {
    readonly filelog?: { readonly include: readonly string[]; readonly exclude: readonly string[] };
    readonly prometheus?: { readonly config: { readonly scrape_configs: readonly Scrape[] } };
  };
  readonly exporters: { readonly otlphttp: object };
  readonly processors: object;
  readonly extensions: object;
  readonly service: { readonly pipelines: Readonly<Record<string, Pipeline>>; readonly telemetry: object };
}
const rendered = (changes: Partial<NodeCollectorConfig> = {}, at = node) =>
  renderNodeCollector({ ...config, ...changes }, at) as Rendered;
const scrapes = (changes: Partial<NodeCollectorConfig> = {}, at = node) =>
  rendered(changes, at).receivers.prometheus?.config.scrape_configs ?? [];

describe("the node collector's configuration", () => {
  it('has only the parts that the settings ask for', () => {
    expect(Object.keys(rendered().service.pipelines)).toEqual(['logs', 'metrics']);
    expect(Object.keys(rendered({ metrics: false }).receivers)).toEqual(['filelog']);
    expect(Object.keys(rendered({ logs: false }).receivers)).toEqual(['prometheus']);
    const all = rendered();
    for (const part of ['receivers', 'processors', 'exporters'] as const) {
      const used = Object.values(all.service.pipelines).flatMap((pipeline) => pipeline[part]);
      expect(new Set(used)).toEqual(new Set(Object.keys(all[part])));
    }
  });

  it('has no token', () => {
    expect(serialize(rendered())).not.toMatch(/t_[0-9a-f]{21}|LumigoToken/);
  });

  it("reads all log files except those of the operator's namespace and excluded ones", () => {
    const { include, exclude } = rendered().receivers.filelog ?? { include: [], exclude: [] };
    expect(include).toEqual(['/var/log/pods/*_*_*/*/*.log', '/var/log/pods/*_*_*/*/*.log.*']);
    expect(exclude).toEqual([
      '/var/log/pods/kube-system_*_*/*/*',
      '/var/log/pods/lumigo-system_*_*/*/*',
      '/var/log/pods/*/*/*.gz',
      '/var/log/pods/*/*/*.tmp',
    ]);
  });

  it('skips log lines that are older than the first process on the node', () => {
    expect(rendered().receivers.filelog).toHaveProperty('start_at', 'end');
  });

  it('knows the pod of a line by the path of its file, and sends no name of the file', () => {
    expect(rendered().receivers.filelog).toMatchObject({ include_file_path: true, include_file_name: false });
  });

  it('parses JSON of few values only, because maps take many times the memory of their text', () => {
    const parser = { type: 'json_parser', if: expect.stringContaining('not (body matches "^([^,{[]*[,{[]){257}" or') };
    expect(rendered().receivers.filelog).toMatchObject({
      operators: expect.arrayContaining([expect.objectContaining(parser)]),
    });
  });

  it('takes the patterns of the original for log files', () => {
    const { include, exclude } = rendered({
      logsInclude: [{ namespacePattern: 'shop-*', containerPattern: 'app' }],
      logsExclude: [{ podPattern: 'noisy-*' }],
    }).receivers.filelog ?? { include: [], exclude: [] };
    expect(include[0]).toBe('/var/log/pods/shop-*_*_*/app/*.log');
    expect(exclude).toContain('/var/log/pods/*_noisy-*_*/*/*');
  });

  it('scrapes its own node by the jobs of the original', () => {
    const found = scrapes().map(({ job_name: job, static_configs: [target], metrics_path: path }) => [
      ...[job, target?.targets[0], path],
    ]);
    expect(found).toEqual([
      ['k8s-infra-metrics', '10.0.0.5:10250', '/metrics'],
      ['k8s-infra-metrics-cadvisor', '10.0.0.5:10250', '/metrics/cadvisor'],
      ['k8s-infra-metrics-resources', '10.0.0.5:10250', '/metrics/resource'],
      ['prometheus-node-exporter', '127.0.0.1:9100', undefined],
    ]);
    // Most kubelets sign their own certificate.
    const kubelet = { scheme: 'https', tls_config: { insecure_skip_verify: true } };
    expect(scrapes().slice(0, 3)).toMatchObject([kubelet, kubelet, kubelet]);
    expect(scrapes().every(({ static_configs: [target] }) => 'instance' in (target?.labels ?? {}))).toBe(true);
  });

  it('scrapes a node with an IPv6 address', () => {
    const [kubelet] = scrapes({}, { name: 'worker-1', address: 'fd00::5' });
    expect(kubelet?.static_configs[0]?.targets).toEqual(['[fd00::5]:10250']);
  });

  it('keeps the essential metrics, or all of them, and each from one job alone', () => {
    const kept = scrapes().flatMap((scrape) => scrape.metric_relabel_configs.filter(({ action }) => action === 'keep'));
    expect(kept.map(({ regex }) => regex)).toEqual(Array(4).fill(essentialMetrics.join('|')));
    const all = scrapes({ essentialOnly: false }).flatMap((scrape) => scrape.metric_relabel_configs);
    const twice = ['container_cpu_usage_seconds_total', 'process_open_fds'].map((name) =>
      all.filter(({ action, regex }) => action === 'drop' && regex.split('|').includes(name)),
    );
    expect([all.length, ...twice.map(({ length }) => length)]).toEqual([2, 1, 1]);
  });

  it('waits without end for the telemetry proxy, and reads no further while its queue is full', () => {
    const { receivers, exporters } = rendered();
    const retry_on_failure = { max_elapsed_time: '0s' };
    expect(receivers.filelog).toMatchObject({ retry_on_failure: { ...retry_on_failure, enabled: true } });
    expect(exporters.otlphttp).toMatchObject({ retry_on_failure, sending_queue: { block_on_overflow: true } });
  });

  it('sends batches that the telemetry proxy accepts, from a queue of the size of the settings', () => {
    const { exporters, extensions } = rendered({ queueSize: '64Mi' });
    const batch = { min_size: 256 * 1_024, max_size: 8 * 1_024 * 1_024 };
    const queue = { queue_size: 64 * 1_024 * 1_024, num_consumers: 2, batch };
    expect(exporters.otlphttp).toMatchObject({ sending_queue: queue });
    // A node that loses power can damage a file, and a full queue leaves a large one.
    const compaction = { on_rebound: true, cleanup_on_start: true };
    expect(extensions).toMatchObject({ file_storage: { recreate: true, compaction } });
  });

  it('shows its own metrics on loopback alone if they are restricted', () => {
    const hosts = [true, false].map((metricsSecure) => JSON.stringify(rendered({ metricsSecure }).service.telemetry));
    expect(hosts).toEqual([expect.stringContaining('"host":"127.0.0.1"'), expect.stringContaining('"host":""')]);
  });

  it('accepts data up to 80 % of the memory limit, and removes garbage before it refuses any', () => {
    const { limit_percentage: hard, spike_limit_percentage: spike } = memoryLimiter;
    // The collector refuses data above the difference, and reduces garbage before that.
    expect(hard - spike).toBe(80);
    expect(memoryLimiter).toHaveProperty('min_gc_interval_when_soft_limited', '1s');
  });
});
