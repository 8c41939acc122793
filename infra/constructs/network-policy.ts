import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { suffixes } from '../../runtime/contract.ts';
import { portNames, reachedPorts, type Reach } from '../settings/ports.ts';
import type { Settings } from '../settings/schema.ts';
import { labels, selectorLabels, type Installation } from './labels.ts';

/** Those that other pods or machines reach, each with the setting that says who. */
const open = ['webhook', 'otlp', 'metrics'] as const satisfies readonly Reach[];

export type NetworkPolicyProps = Installation & Pick<Settings, 'networkPolicy' | 'metrics' | 'ports'>;

/**
 * Closes what nobody needs. It is about ingress alone: where the pods go (the API server, Lumigo's endpoint, the DNS) has addresses
 * that differ from cluster to cluster, or names, which a NetworkPolicy does not know.
 */
export class NetworkPolicy extends Construct {
  constructor(scope: Construct, id: string, props: NetworkPolicyProps) {
    super(scope, id);
    const { name, namespace, networkPolicy, metrics, ports } = props;
    const reached = portNames.filter((each) => !(metrics.secure && each === 'telemetryMetrics'));
    // The typed construct drops what it does not know of a peer; settings have to pass as they are.
    new ApiObject(this, 'policy', {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: `${name}${suffixes.manager}`, namespace, labels: labels(props, 'network-policy') },
      spec: {
        podSelector: { matchLabels: selectorLabels(props) },
        policyTypes: ['Ingress'],
        ingress: open.map((by) => ({
          // Without it everybody may. An empty list means the same; but nothing of it is stored, and each apply would be a change.
          ...(networkPolicy[by].from.length === 0 ? {} : { from: networkPolicy[by].from }),
          ports: reached
            .filter((each) => reachedPorts[each].by === by)
            .map((each) => ({ port: ports[each], protocol: 'TCP' })),
        })),
      },
    });
  }
}
