import { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { ports as ownPorts, suffixes } from '../../runtime/contract.ts';
import { rule } from '../../runtime/access/permissions.ts';
import type { Settings } from '../settings/schema.ts';
import { KubeStateMetrics } from './kube-state-metrics.ts';
import { labels, metricsLabels, optOut, selectorLabels } from './labels.ts';
import { addNetworkPolicy } from './network-policy.ts';
import { nodeCollectorPod } from './node-collector-pod.ts';
import { podMetadata } from './pod.ts';
import { grant } from './rights.ts';

const component = 'node-collector';

/** Returns true if the settings ask for any data of nodes. */
export const collectsNodes = ({ clusterCollection: { logs, metrics } }: Settings): boolean =>
  logs.enabled || metrics.enabled;

/** A collector on each node, for log files and metrics. It sends them to the telemetry proxy, which adds the tokens. */
export class NodeCollector extends Construct {
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const { name, namespace } = settings;
    const own = `${name}${suffixes.nodeCollector}`;
    const common = labels(settings, component);
    const metadata = { name: own, namespace, labels: common };
    const collectors = selectorLabels(settings, component);
    new k8s.KubeServiceAccount(this, 'account', { metadata, automountServiceAccountToken: false });
    if (settings.clusterCollection.metrics.enabled)
      grant(this, settings, { metadata: { name: own, labels: common }, granted: nodeCollectorRules, account: own });
    // The typed construct drops fields that it does not know. Settings must pass unchanged.
    new ApiObject(this, 'daemon-set', {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { ...metadata, labels: { ...common, ...optOut } },
      spec: {
        selector: { matchLabels: collectors },
        // The next pod continues with the files of the last one, so two never run at once.
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%', maxSurge: 0 } },
        template: {
          metadata: podMetadata(settings, { ...common, ...optOut }, 'collector'),
          spec: nodeCollectorPod(settings, own),
        },
      },
    });
    receive(this, settings, collectors);
    expose(this, settings, collectors);
    if (settings.clusterCollection.metrics.enabled) new KubeStateMetrics(this, 'kube-state-metrics', settings);
  }
}

export const nodeCollectorRules = [rule('', 'nodes/metrics', 'get')];

/** The telemetry proxy's port for nodes has its own Service. A NetworkPolicy allows only the collectors. */
function receive(scope: Construct, settings: Settings, collectors: Record<string, string>): void {
  const { name, namespace, ports, networkPolicy } = settings;
  const metadata = { name: `${name}${suffixes.nodeData}`, namespace, labels: labels(settings, component) };
  const targetPort = k8s.IntOrString.fromNumber(ports.nodeData);
  new k8s.KubeService(scope, 'service', {
    metadata,
    spec: {
      type: 'ClusterIP',
      selector: selectorLabels(settings),
      ports: [{ name: 'otlp-http', port: ports.nodeData, targetPort, protocol: 'TCP', appProtocol: 'http' }],
    },
  });
  if (!networkPolicy.enabled) return;
  const from = [{ podSelector: { matchLabels: collectors } }];
  addNetworkPolicy(scope, { metadata, pods: selectorLabels(settings), ingress: [{ from, ports: [ports.nodeData] }] });
}

function expose(scope: Construct, settings: Settings, collectors: Record<string, string>): void {
  const { name, namespace, networkPolicy } = settings;
  const metadata = { name: `${name}${suffixes.nodeCollector}`, namespace, labels: metricsLabels(settings) };
  // The ServiceMonitor of the telemetry proxy selects this Service, too.
  new k8s.KubeService(scope, 'metrics', {
    metadata,
    spec: {
      clusterIp: 'None',
      selector: collectors,
      ports: [{ name: 'otlp-metrics', port: ownPorts.telemetryMetrics, protocol: 'TCP' }],
    },
  });
  if (!networkPolicy.enabled) return;
  addNetworkPolicy(scope, {
    metadata: { ...metadata, labels: labels(settings, component) },
    pods: collectors,
    ingress: [{ from: networkPolicy.metrics.from, ports: [ownPorts.telemetryMetrics] }],
  });
}
