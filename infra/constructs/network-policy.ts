import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { suffixes } from '../../runtime/contract.ts';
import { portNames, reachedPorts, type Reach } from '../settings/ports.ts';
import type { Settings } from '../settings/schema.ts';
import { labels, selectorLabels, type Installation } from './labels.ts';

const open = ['webhook', 'otlp', 'metrics'] as const satisfies readonly Reach[];

export type NetworkPolicyProps = Installation & Pick<Settings, 'networkPolicy' | 'metrics' | 'ports'>;

/** Limits ingress only: addresses of the API server, the DNS and Lumigo differ per cluster, and a NetworkPolicy does not match names. */
export class NetworkPolicy extends Construct {
  constructor(scope: Construct, id: string, props: NetworkPolicyProps) {
    super(scope, id);
    const { name, namespace, networkPolicy, metrics, ports } = props;
    const reached = portNames.filter((each) => !(metrics.secure && each === 'telemetryMetrics'));
    // The typed construct drops unknown fields of a peer. Settings must pass unchanged.
    new ApiObject(this, 'policy', {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: `${name}${suffixes.manager}`, namespace, labels: labels(props, 'network-policy') },
      spec: {
        podSelector: { matchLabels: selectorLabels(props) },
        policyTypes: ['Ingress'],
        ingress: open.map((by) => ({
          // An empty list means the same as none. The API server does not store it, so each apply would be a change.
          ...(networkPolicy[by].from.length === 0 ? {} : { from: networkPolicy[by].from }),
          ports: reached
            .filter((each) => reachedPorts[each].by === by)
            .map((each) => ({ port: ports[each], protocol: 'TCP' })),
        })),
      },
    });
  }
}
