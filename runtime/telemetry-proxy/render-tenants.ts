import { tokenScheme } from '../contract.ts';
import { toFile, type CollectedNamespace, type Parts, type ProxySettings, type Sent } from './types.ts';

export type Rendered = Partial<Parts>;

const kinds = ['extensions', 'receivers', 'processors', 'exporters', 'connectors', 'pipelines'] as const;

/** No two of them have a component of the same name. */
export function join(...rendered: readonly Rendered[]): Parts {
  const joined = kinds.map((kind) => [kind, Object.assign({}, ...rendered.map((parts) => parts[kind]))] as const);
  return Object.fromEntries(joined) as unknown as Parts;
}

/** The namespaces with the same token. */
export interface Tenant {
  /** The name of the first namespace, because no name may contain a token. */
  readonly id: string;
  readonly token: string;
  readonly namespaces: readonly CollectedNamespace[];
}

export function toTenants(namespaces: readonly CollectedNamespace[], sent: Sent): readonly Tenant[] {
  const byToken = new Map<string, CollectedNamespace[]>();
  for (const namespace of namespaces.filter(({ sends }) => sends.includes(sent)))
    byToken.set(namespace.token, [...(byToken.get(namespace.token) ?? []), namespace]);
  return [...byToken].map(([token, shared]) => ({ id: shared[0]?.name ?? '', token, namespaces: shared }));
}

export const eachTenant = <T>(tenants: readonly Tenant[], prefix: string, value: (tenant: Tenant) => T) =>
  Object.fromEntries(tenants.map((tenant) => [`${prefix}/${tenant.id}`, value(tenant)]));

/** Returns a connector that passes the data of each namespace to the pipeline of its tenant, and drops the rest. */
export const routeTo = (tenants: readonly Tenant[], pipelineOf: (tenant: Tenant) => string): object => ({
  table: tenants.map((tenant) => ({
    context: 'resource',
    condition: tenant.namespaces.map(isOf).join(' or '),
    pipelines: [pipelineOf(tenant)],
  })),
});

/** The name is a DNS label, so it needs no escape. */
const isOf = ({ name }: CollectedNamespace): string => `attributes["k8s.namespace.name"] == "${name}"`;

/** If the key in the file changes, the old configuration sends no more collected data, without a reload. */
const loopAuthenticator = 'bearertokenauth/loop';
const keyHeader = 'Lumigo-Loop-Key';

const loopAddress = ({ telemetryLoopPort }: ProxySettings): string => `127.0.0.1:${telemetryLoopPort}`;

export const renderLoop = (settings: ProxySettings): Rendered => ({
  extensions: { [loopAuthenticator]: { header: keyHeader, filename: toFile(settings, 'loopKey') } },
  receivers: {
    'otlp/loop': {
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
    },
  },
});

/** Sends data to the loop with a tenant's token, and returns when it is accepted. */
export const loopExporter = (settings: ProxySettings, { token }: Tenant, { key }: { readonly key: string }) => ({
  endpoint: `http://${loopAddress(settings)}`,
  headers: { Authorization: `${tokenScheme} ${token}`, [keyHeader]: `Bearer ${key}` },
  compression: 'none',
  timeout: '10s',
});
