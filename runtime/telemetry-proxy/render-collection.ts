import { lumigo, pods, workloads, type Signal, type WorkloadKind } from '../contract.ts';
import { intoShard, getShardRouter } from './render-shards.ts';
import { renderNodes } from './render-nodes.ts';
import { eachTenant, join, loopExporter, renderLoop, routeTo, toTenants, type Rendered } from './render-tenants.ts';
import type { Collection, Components, ProxySettings } from './types.ts';

/** The collector sends events, and every version of their objects, for namespaces with `kubeEvents` enabled. */
export const collectedKinds: readonly Pick<WorkloadKind, 'group' | 'version' | 'plural'>[] = [
  { group: '', version: 'v1', plural: 'events' },
  pods,
  ...workloads.filter(({ addOn }) => addOn === undefined),
];

/** The interval is longer than any configuration lives, so objects are pulled once. */
const ONCE = '8760h';

const route = 'routing/namespaces';

/** Everything that needs a token of the operator. It passes the loop, where it takes the shard of that token. */
export function renderCollection(settings: ProxySettings, collection: Collection): Rendered {
  const signals: readonly Signal[] = settings.nodeMetrics ? ['logs', 'metrics'] : ['logs'];
  const forward = (signal: Signal) => ({
    receivers: ['otlp/loop'],
    processors: [intoShard, 'batch'],
    exporters: [getShardRouter(signal)],
  });
  const pipelines = Object.fromEntries(signals.map((signal) => [`${signal}/loop`, forward(signal)]));
  const loop = { ...renderLoop(settings), pipelines };
  return join(loop, renderObjects(settings, collection), renderNodes(settings, collection));
}

/** One watch per kind covers the cluster. A switch keeps known namespaces. */
function renderObjects(settings: ProxySettings, collection: Collection): Rendered {
  const tenants = toTenants(collection.namespaces, 'events');
  if (tenants.length === 0) return {};
  const receivers = objectReceivers(settings, collection);
  return {
    receivers,
    processors: { 'transform/scope': scopes(settings) },
    connectors: { [route]: routeTo(tenants, ({ id }) => `logs/to/${id}`) },
    exporters: eachTenant(tenants, 'otlphttp/to', (tenant) => patiently(loopExporter(settings, tenant, collection))),
    pipelines: {
      'logs/collected': {
        receivers: Object.keys(receivers),
        processors: ['transform/scope', 'resource/operator'],
        exporters: [route],
      },
      // No namespace takes the name of another pipeline.
      ...eachTenant(tenants, 'logs/to', ({ id }) => ({ receivers: [route], exporters: [`otlphttp/to/${id}`] })),
    },
  };
}

function objectReceivers({ telemetryProxyCredentials }: ProxySettings, { initial, since }: Collection): Components {
  // Each `Lumigo` resource is sent at the start and hourly, so Lumigo knows of monitored namespaces without events.
  const heartbeat = { name: lumigo.plural, group: lumigo.group, mode: 'pull', interval: '1h' };
  const receiver = (mode: 'watch' | 'pull', more: (plural: string) => object) => ({
    auth_type: telemetryProxyCredentials,
    objects: collectedKinds.map(({ group, plural }) => ({ name: plural, group, mode, ...more(plural) })),
  });
  return {
    'k8sobjects/changes': receiver('watch', (plural) => ({ resource_version: since[plural] })),
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

/** Each may be a list of objects in memory. An event is one, too, so a batch that waited for more would delay every watch. */
const QUEUED_REQUESTS = 4;

/** No processor that gathers data may precede it: at shutdown that would wait for a receiver that is already closed. */
const patiently = (exporter: object) => ({
  ...exporter,
  sending_queue: {
    sizer: 'requests',
    queue_size: QUEUED_REQUESTS,
    num_consumers: 1,
    block_on_overflow: true,
    batch: { sizer: 'items', flush_timeout: '100ms', min_size: QUEUED_REQUESTS, max_size: 100 },
  },
  retry_on_failure: { initial_interval: '100ms', max_interval: '2s', max_elapsed_time: '0s' },
});
