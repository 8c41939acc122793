import { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { ports as ownPorts, suffixes } from '../../runtime/contract.ts';
import { rule } from '../../runtime/access/permissions.ts';
import type { Settings } from '../settings/schema.ts';
import { KubeStateMetrics } from './kube-state-metrics.ts';
import { labels, metricsLabels, optOut, selectorLabels } from './labels.ts';
import { nodeCollectorPod } from './node-collector-pod.ts';
import { podMetadata } from './pod.ts';
import { policyRules } from './policy-rules.ts';

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
    const isOwn = { ...selectorLabels(settings), 'app.kubernetes.io/component': component };
    new k8s.KubeServiceAccount(this, 'account', { metadata, automountServiceAccountToken: false });
    if (settings.clusterCollection.metrics.enabled) grant(this, settings, { name: own, labels: common });
    // The typed construct drops fields that it does not know. Settings must pass unchanged.
    new ApiObject(this, 'daemon-set', {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { ...metadata, labels: { ...common, ...optOut } },
      spec: {
        selector: { matchLabels: isOwn },
        // The next pod continues with the files of the last one, so two never run at once.
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%', maxSurge: 0 } },
        template: {
          metadata: podMetadata(settings, { ...common, ...optOut }, 'collector'),
          spec: nodeCollectorPod(settings, own),
        },
      },
    });
    receive(this, settings, isOwn);
    expose(this, settings, isOwn);
    if (settings.clusterCollection.metrics.enabled) new KubeStateMetrics(this, 'kube-state-metrics', settings);
  }
}

export const nodeCollectorRules = [rule('', 'nodes/metrics', 'get')];

function grant(scope: Construct, { namespace }: Settings, metadata: { name: string; labels: Record<string, string> }) {
  const { name } = metadata;
  new k8s.KubeClusterRole(scope, 'role', { metadata, rules: policyRules(nodeCollectorRules) });
  new k8s.KubeClusterRoleBinding(scope, 'role-binding', {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  });
}

/** The telemetry proxy's port for nodes has its own Service. A NetworkPolicy allows only the collectors. */
function receive(scope: Construct, settings: Settings, collectors: Record<string, string>): void {
  const { name, namespace, ports, networkPolicy } = settings;
  const metadata = { name: `${name}${suffixes.nodeData}`, namespace, labels: labels(settings, component) };
  const port = k8s.IntOrString.fromNumber(ports.nodeData);
  new k8s.KubeService(scope, 'service', {
    metadata,
    spec: {
      type: 'ClusterIP',
      selector: selectorLabels(settings),
      ports: [{ name: 'otlp-http', port: ports.nodeData, targetPort: port, protocol: 'TCP', appProtocol: 'http' }],
    },
  });
  if (!networkPolicy.enabled) return;
  new k8s.KubeNetworkPolicy(scope, 'receive', {
    metadata,
    spec: {
      podSelector: { matchLabels: selectorLabels(settings) },
      policyTypes: ['Ingress'],
      ingress: [{ from: [{ podSelector: { matchLabels: collectors } }], ports: [{ port, protocol: 'TCP' }] }],
    },
  });
}

function expose(scope: Construct, settings: Settings, collectors: Record<string, string>): void {
  const { name, namespace, networkPolicy } = settings;
  const metadata = { name: `${name}${suffixes.nodeCollector}`, namespace, labels: metricsLabels(settings) };
  const { telemetryMetrics } = ownPorts;
  // The ServiceMonitor of the telemetry proxy selects this Service, too.
  new k8s.KubeService(scope, 'metrics', {
    metadata,
    spec: {
      clusterIp: 'None',
      selector: collectors,
      ports: [{ name: 'otlp-metrics', port: telemetryMetrics, protocol: 'TCP' }],
    },
  });
  if (!networkPolicy.enabled) return;
  new ApiObject(scope, 'serve', {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { ...metadata, labels: labels(settings, component) },
    spec: {
      podSelector: { matchLabels: collectors },
      policyTypes: ['Ingress'],
      ingress: [
        {
          ...(networkPolicy.metrics.from.length === 0 ? {} : { from: networkPolicy.metrics.from }),
          ports: [{ port: telemetryMetrics, protocol: 'TCP' }],
        },
      ],
    },
  });
}
