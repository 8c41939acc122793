import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { ports, suffixes } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import { labels, selectorLabels } from './labels.ts';

/**
 * Who may reach a port: those whom a setting names, the pod's own node (the kubelet, whom no NetworkPolicy keeps out), or the
 * pod itself, on loopback.
 */
type Reach = 'webhook' | 'otlp' | 'metrics' | 'node' | 'pod';

interface ReachedPort {
  readonly port: number;
  readonly purpose: string;
  readonly by: Reach;
}

/** Every port that anything in the operator's pods listens on. docs/security.md has its table from here. */
export const reachedPorts = ({ webhook }: Pick<Settings, 'webhook'>): readonly ReachedPort[] => [
  { port: webhook.port, purpose: 'the API server asks about writes, over TLS', by: 'webhook' },
  { port: ports.otlpHttp, purpose: 'traces and logs, OTLP over HTTP, with a token', by: 'otlp' },
  { port: ports.otlpGrpc, purpose: 'traces and logs, OTLP over gRPC, with a token', by: 'otlp' },
  {
    port: ports.metrics,
    purpose: 'metrics of the manager; with `metrics.secure` over TLS with a token, also those of the telemetry proxy',
    by: 'metrics',
  },
  {
    port: ports.telemetryMetrics,
    purpose: 'metrics of the telemetry proxy; with `metrics.secure` on loopback only',
    by: 'metrics',
  },
  { port: ports.health, purpose: 'probes of the manager', by: 'node' },
  { port: ports.telemetryHealth, purpose: 'probes of the telemetry proxy', by: 'node' },
  { port: ports.telemetryLoop, purpose: 'what the telemetry proxy hands itself', by: 'pod' },
];

/** Those that other pods or machines reach, each with the setting that says who. */
const open = ['webhook', 'otlp', 'metrics'] as const satisfies readonly Reach[];

/**
 * Closes what nobody needs. It is about ingress alone: where the pods go (the API server, Lumigo's endpoint, the DNS) has addresses
 * that differ from cluster to cluster, or names, which a NetworkPolicy does not know.
 */
export class NetworkPolicy extends Construct {
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const { name, namespace, networkPolicy, metrics } = settings;
    const reached = reachedPorts(settings).filter(({ port }) => !(metrics.secure && port === ports.telemetryMetrics));
    // The typed construct drops what it does not know of a peer; settings have to pass as they are.
    new ApiObject(this, 'policy', {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: `${name}${suffixes.manager}`, namespace, labels: labels(settings, 'network-policy') },
      spec: {
        podSelector: { matchLabels: selectorLabels(settings) },
        policyTypes: ['Ingress'],
        ingress: open.map((by) => ({
          // Without it everybody may. An empty list means the same; but nothing of it is stored, and each apply would be a change.
          ...(networkPolicy[by].from.length === 0 ? {} : { from: networkPolicy[by].from }),
          ports: reached.filter((each) => each.by === by).map(({ port }) => ({ port, protocol: 'TCP' })),
        })),
      },
    });
  }
}
