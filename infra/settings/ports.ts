import { ports as defaults } from '../../runtime/contract.ts';
import { section, wholeNumber } from './leaves.ts';

/** The source that may reach a port: one of a setting, the kubelet (which no NetworkPolicy blocks), or the pod itself on loopback. */
export type Reach = 'webhook' | 'otlp' | 'metrics' | 'nodes' | 'node' | 'pod';

export type PortName = keyof typeof defaults;

/** The ports of the operator's pods. docs/reference/ports.md has its table from here. */
export const reachedPorts: Readonly<Record<PortName, { readonly purpose: string; readonly by: Reach }>> = {
  webhook: { purpose: 'admission calls of the API server, over TLS', by: 'webhook' },
  otlpHttp: { purpose: 'traces, logs and metrics, OTLP over HTTP, with a token', by: 'otlp' },
  otlpGrpc: { purpose: 'traces, logs and metrics, OTLP over gRPC, with a token', by: 'otlp' },
  metrics: {
    purpose: 'metrics of the manager; with `metrics.secure` over TLS with a token, also those of the telemetry proxy',
    by: 'metrics',
  },
  telemetryMetrics: {
    purpose: 'metrics of the telemetry proxy; with `metrics.secure` on loopback only',
    by: 'metrics',
  },
  health: { purpose: 'probes of the manager', by: 'node' },
  telemetryHealth: { purpose: 'probes of the telemetry proxy', by: 'node' },
  telemetryLoop: { purpose: 'collected data on its way through the telemetry proxy', by: 'pod' },
  telemetryCounts: { purpose: 'the names of workloads that sent telemetry', by: 'pod' },
  nodeData: { purpose: 'log lines and metrics of the node collectors, OTLP over HTTP, with a key', by: 'nodes' },
};

export const portNames = Object.keys(reachedPorts) as readonly PortName[];

const more: Partial<Record<PortName, string>> = {
  webhook:
    ' Set 10250 if a firewall lets the control plane reach no other port of the nodes, as on GKE with private nodes.',
};

const port = (name: PortName) =>
  wholeNumber(1024, 65_535)
    .default(defaults[name])
    .describe(`The port of the operator's pods for ${reachedPorts[name].purpose}.${more[name] ?? ''}`);

type Port = ReturnType<typeof port>;

export const ports = section(Object.fromEntries(portNames.map((name) => [name, port(name)])) as Record<PortName, Port>);
