import { lumigo, pods, telemetryProxyFiles, tokenScheme, workloads, type WorkloadKind } from '../contract.ts';
import { intoShard, getShardRouter } from './render-shards.ts';
import type { CollectedNamespace, Collection, CollectorConfiguration, Components, ProxySettings } from './types.ts';

type Rendered = Pick<CollectorConfiguration, 'extensions' | 'receivers' | 'processors' | 'connectors' | 'exporters'> &
  Pick<CollectorConfiguration['service'], 'pipelines'>;

/** The collector sends events, and every version of their objects, for namespaces with `kubeEvents` enabled. */
export const collectedKinds: readonly Pick<WorkloadKind, 'group' | 'version' | 'plural'>[] = [
  { group: '', version: 'v1', plural: 'events' },
  pods,
  ...workloads.filter(({ addOn }) => addOn === undefined),
];

/** The interval is longer than any configuration lives, so objects are pulled once. */
const ONCE = '8760h';

/** Each `Lumigo` resource is sent at the start and hourly, so Lumigo knows of monitored namespaces without events. */
const heartbeat = { name: lumigo.plural, group: lumigo.group, mode: 'pull', interval: '1h' } as const;

const route = 'routing/namespaces';

/** One watch per kind covers the cluster. A switch keeps known namespaces, whose data takes the shard of its token. */
export function renderCollection(settings: ProxySettings, collection: Collection): Rendered {
  const tenants = toTenants(collection.namespaces);
  const objects = objectReceivers(settings, collection);
  const each = <T>(prefix: string, value: (tenant: Tenant) => T) =>
    Object.fromEntries(tenants.map((tenant) => [`${prefix}/${tenant.id}`, value(tenant)]));
  return {
    extensions: { [loopAuthenticator]: { header: keyHeader, filename: loopKeyFile(settings.telemetryProxyDirectory) } },
    receivers: { ...objects, 'otlp/loop': loopReceiver(settings) },
    processors: { 'transform/scope': scopes(settings) },
    connectors: {
      [route]: {
        table: tenants.map(({ id, namespaces }) => ({
          context: 'resource',
          condition: namespaces.map(isOf).join(' or '),
          pipelines: [`logs/${id}`],
        })),
      },
    },
    exporters: each('otlphttp/to', ({ token }) => loopExporter(settings, token, collection.key)),
    pipelines: {
      'logs/collected': {
        receivers: Object.keys(objects),
        processors: ['transform/scope', 'resource/operator'],
        exporters: [route],
      },
      ...each('logs', ({ id }) => ({ receivers: [route], exporters: [`otlphttp/to/${id}`] })),
      'logs/loop': {
        receivers: ['otlp/loop'],
        processors: [intoShard, 'batch'],
        exporters: [getShardRouter('logs')],
      },
    },
  };
}

interface Tenant {
  /** The name of the first namespace, because no name may contain a token. */
  readonly id: string;
  readonly token: string;
  readonly namespaces: readonly CollectedNamespace[];
}

function toTenants(namespaces: readonly CollectedNamespace[]): readonly Tenant[] {
  const byToken = new Map<string, CollectedNamespace[]>();
  for (const namespace of namespaces)
    byToken.set(namespace.token, [...(byToken.get(namespace.token) ?? []), namespace]);
  return [...byToken].map(([token, shared]) => ({ id: shared[0]?.name ?? '', token, namespaces: shared }));
}

/** The name is a DNS label, so it needs no escape. */
const isOf = ({ name }: CollectedNamespace): string => `attributes["k8s.namespace.name"] == "${name}"`;

function objectReceivers({ telemetryProxyCredentials }: ProxySettings, { initial, since }: Collection): Components {
  const receiver = (mode: 'watch' | 'pull', more: (plural: string) => object) => ({
    auth_type: telemetryProxyCredentials,
    objects: collectedKinds.map(({ group, plural }) => ({ name: plural, group, mode, ...more(plural) })),
  });
  const from = (plural: string) => (since[plural] === undefined ? {} : { resource_version: since[plural] });
  return {
    'k8sobjects/changes': receiver('watch', from),
    'k8sobjects/heartbeat': { auth_type: telemetryProxyCredentials, objects: [heartbeat] },
    // These requests are paced, and changes must not queue behind them.
    ...(initial.length === 0
      ? {}
      : { 'k8sobjects/initial': receiver('pull', () => ({ interval: ONCE, namespaces: initial })) }),
  };
}

/** Lumigo tells events and objects apart by the scope. `managedFields` only concern API servers. */
const scopes = ({ version }: ProxySettings) => ({
  error_mode: 'ignore',
  log_statements: [
    {
      context: 'log',
      statements: [
        'set(instrumentation_scope.name, "lumigo-operator.k8s-objects")',
        'set(instrumentation_scope.name, "lumigo-operator.k8s-events") where attributes["k8s.resource.name"] == "events"',
        `set(instrumentation_scope.name, "lumigo-operator.namespace_heartbeat") where attributes["k8s.resource.name"] == "${lumigo.plural}"`,
        `set(instrumentation_scope.version, ${JSON.stringify(version)})`,
        'delete_key(body["metadata"], "managedFields") where body["metadata"] != nil',
        'delete_key(body["object"]["metadata"], "managedFields") where body["object"] != nil',
      ],
    },
  ],
});

/** If the key in the file changes, the old configuration sends no more collected data, without a reload. */
const loopAuthenticator = 'bearertokenauth/loop';
const keyHeader = 'Lumigo-Loop-Key';

export const loopKeyFile = (folder: string): string => `${folder}/${telemetryProxyFiles.loopKey}`;

const loopAddress = ({ telemetryLoopPort }: ProxySettings): string => `127.0.0.1:${telemetryLoopPort}`;

const loopReceiver = (settings: ProxySettings) => ({
  protocols: {
    http: {
      endpoint: loopAddress(settings),
      include_metadata: true,
      auth: { authenticator: loopAuthenticator },
      max_request_body_size: 64 * 1024 * 1024,
      // The collector's own clients open idle connections too, and a reload waits for those.
      read_header_timeout: '1s',
    },
  },
});

/** No processor that gathers data may precede it: at shutdown that would wait for a receiver that is already closed. */
const loopExporter = (settings: ProxySettings, token: string, key: string) => ({
  endpoint: `http://${loopAddress(settings)}`,
  headers: { Authorization: `${tokenScheme} ${token}`, [keyHeader]: `Bearer ${key}` },
  compression: 'none',
  timeout: '10s',
  sending_queue: {
    sizer: 'requests',
    queue_size: 4,
    num_consumers: 1,
    block_on_overflow: true,
    batch: { sizer: 'items', flush_timeout: '100ms', min_size: 50, max_size: 100 },
  },
  retry_on_failure: { initial_interval: '100ms', max_interval: '2s', max_elapsed_time: '0s' },
});
