import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { suffixes } from '../../runtime/contract.ts';
import { portNames, reachedPorts, type Reach } from '../settings/ports.ts';
import type { Settings } from '../settings/schema.ts';
import { labels, selectorLabels, type Installation } from './labels.ts';
import type { Manifest } from './manifest.ts';

const open = ['webhook', 'otlp', 'metrics'] as const satisfies readonly Reach[];

export type NetworkPolicyProps = Installation & Pick<Settings, 'networkPolicy' | 'metrics' | 'ports'>;

/** Limits ingress only: addresses of the API server, the DNS and Lumigo differ per cluster, and a NetworkPolicy does not match names. */
export class NetworkPolicy extends Construct {
  constructor(scope: Construct, id: string, props: NetworkPolicyProps) {
    super(scope, id);
    const { name, namespace, networkPolicy, metrics, ports } = props;
    const reached = portNames.filter((each) => !(metrics.secure && each === 'telemetryMetrics'));
    addNetworkPolicy(this, {
      metadata: { name: `${name}${suffixes.manager}`, namespace, labels: labels(props, 'network-policy') },
      pods: selectorLabels(props),
      ingress: open.map((by) => ({
        from: networkPolicy[by].from,
        ports: reached.filter((each) => reachedPorts[each].by === by).map((each) => ports[each]),
      })),
    });
  }
}

interface Policy {
  readonly metadata: Manifest['metadata'];
  /** The labels of the pods that are reached. */
  readonly pods: Readonly<Record<string, string>>;
  /** Without a peer in `from`, every address reaches the ports. */
  readonly ingress: readonly { readonly from: readonly object[]; readonly ports: readonly number[] }[];
}

/** Adds a policy of ingress. The typed construct drops unknown fields of a peer. Settings must pass unchanged. */
export function addNetworkPolicy(scope: Construct, { metadata, pods, ingress }: Policy): void {
  new ApiObject(scope, `policy-${metadata.name}`, {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata,
    spec: {
      podSelector: { matchLabels: pods },
      policyTypes: ['Ingress'],
      ingress: ingress.map(({ from, ports }) => ({
        // The API server does not store an empty list, so each apply would be a change.
        ...(from.length === 0 ? {} : { from }),
        ports: ports.map((port) => ({ port, protocol: 'TCP' })),
      })),
    },
  });
}
