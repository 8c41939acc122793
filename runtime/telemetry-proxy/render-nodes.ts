import { podAttributes, transform, waitForPods } from './render-attributes.ts';
import { onNode, removeLong } from './render-claims.ts';
import { at } from '../node-collector/common-parts.ts';
import { kubeStateScrape, scrapeFilter } from '../node-collector/render-scrapes.ts';
import { getShardRouter } from './render-shards.ts';
import { eachTenant, join, loopExporter, routeTo, toTenants, type Rendered, type Tenant } from './render-tenants.ts';
import { toFile, type CollectedNamespace, type Collection, type Components, type ProxySettings } from './types.ts';

const receiver = 'otlp/nodes';
const authenticator = 'bearertokenauth/nodes';
const kubeState = 'prometheus/kube-state-metrics';
const route = 'routing/log-files';
const consent = 'filter/log-files';
const exporter = 'otlphttp/nodes';
const filePods = 'k8sattributes/log-files';
const shortNames = 'transform/log-files';

/** With it, the port takes lines of nodes, and drops those of namespaces without `logFiles`. Otherwise the nodes keep their lines. */
export const port: CollectedNamespace = { name: '', token: '', lumigo: 'port', sends: ['port'] };

/** The port for node collectors. A line takes the token of its namespace, and metrics that of the installation. */
export function renderNodes(settings: ProxySettings, { namespaces, nodeKey: key, waitsForPods }: Collection): Rendered {
  const takesLogs = toTenants(namespaces, 'port').length > 0;
  const logs = takesLogs ? toTenants(namespaces, 'logFiles') : [];
  const metrics = toTenants(namespaces, 'metrics');
  if (!takesLogs && metrics.length === 0) return {};
  const toLoop = (tenant: Tenant) => promptly(loopExporter(settings, tenant, { key }));
  const shared = {
    extensions: { [authenticator]: { filename: toFile(settings, 'nodeKeys') } },
    receivers: { [receiver]: nodeReceiver(settings) },
    exporters: eachTenant([...logs, ...metrics], exporter, toLoop),
  };
  const scrapes = toTenants(namespaces, 'kubeStateMetrics').length > 0;
  const scraped = metrics.map((tenant) => renderMetrics(settings, tenant, scrapes));
  return join(shared, takesLogs ? renderLogs(settings, logs, waitsForPods) : {}, ...scraped);
}

const renderLogs = (settings: ProxySettings, logs: readonly Tenant[], waits: boolean): Rendered => ({
  processors: { [consent]: toConsent(logs), [filePods]: byUid(settings, waits), [shortNames]: transform(removeLong) },
  connectors: logs.length === 0 ? {} : { [route]: routeTo(logs, (tenant) => `logs/${toExporterName(tenant)}`) },
  pipelines: {
    'logs/nodes': {
      receivers: [receiver],
      processors: ['memory_limiter', consent, filePods, shortNames, 'resource/operator'],
      // Without a namespace no line passes the filter, and a table of routes must not be empty.
      exporters: [logs.length === 0 ? getShardRouter('logs') : route],
    },
    ...eachTenant(logs, `logs/${exporter}`, (tenant) => ({ receivers: [route], exporters: [toExporterName(tenant)] })),
  },
});

function renderMetrics(settings: ProxySettings, tenant: Tenant, scrapes: boolean): Rendered {
  const scraper = { config: { scrape_configs: [kubeStateScrape(settings, settings.kubeStateMetrics)] } };
  const receivers: Components = scrapes ? { [kubeState]: scraper } : {};
  const pipeline = {
    receivers: [receiver, ...Object.keys(receivers)],
    processors: ['memory_limiter', 'filter/scrape', 'resource/operator'],
    exporters: [toExporterName(tenant)],
  };
  return { receivers, processors: { 'filter/scrape': scrapeFilter }, pipelines: { 'metrics/nodes': pipeline } };
}

const toExporterName = ({ id }: Tenant): string => `${exporter}/${id}`;

const nodeReceiver = ({ listenAddress, nodeDataPort }: ProxySettings) => ({
  protocols: {
    http: {
      endpoint: at(listenAddress, nodeDataPort),
      auth: { authenticator },
      // A reload waits for connections.
      read_header_timeout: '1s',
    },
  },
});

/** The kubelet chooses the folder of a log file, so its namespace is true. Without consent a line is dropped. */
const toConsent = (logs: readonly Tenant[]) => {
  const names = logs.flatMap(({ namespaces }) => namespaces.map(({ name }) => name)).join('|');
  const isAllowed = `IsMatch(resource.attributes["k8s.namespace.name"], "^(${names})$")`;
  return { error_mode: 'propagate', logs: { log_record: [names === '' ? 'true' : `not ${isAllowed}`] } };
};

/** The path of a log file has the uid of its pod. */
const byUid = ({ telemetryProxyCredentials }: ProxySettings, waits: boolean) => ({
  auth_type: telemetryProxyCredentials,
  extract: { metadata: podAttributes },
  filter: { fields: [onNode] },
  pod_association: [{ sources: [{ from: 'resource_attribute', name: 'k8s.pod.uid' }] }],
  ...waitForPods(waits),
});

/** A collector on a node keeps data until the loop has it. A queue here would lose data at each reload. */
const promptly = (sender: object) => ({
  ...sender,
  sending_queue: { enabled: false },
  retry_on_failure: { initial_interval: '100ms', max_interval: '1s', max_elapsed_time: '5s' },
});
