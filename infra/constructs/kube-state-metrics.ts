import { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { suffixes } from '../../runtime/contract.ts';
import { rule } from '../../runtime/access/permissions.ts';
import type { Settings } from '../settings/schema.ts';
import { labels, optOut, selectorLabels } from './labels.ts';
import { addNetworkPolicy } from './network-policy.ts';
import { containerOf, operatorPod, podMetadata } from './pod.ts';
import { KUBE_STATE_METRICS_PORT } from './runtime-environment.ts';
import { grant } from './rights.ts';

const component = 'kube-state-metrics';
const TELEMETRY_PORT = 8081;

/** Labels that the original asks for, which become the `kube_*_labels` metrics. */
const labelsAllowed = [
  'namespaces=[namespace]',
  ...['daemonset', 'deployment', 'replicaset', 'statefulset', 'job', 'cronjob', 'pod'].map(
    (kind) => `${kind}s=[${kind},namespace]`,
  ),
  'nodes=[node]',
].join(',');

export const kubeStateMetricsRules = [
  rule('', 'namespaces nodes pods', 'list watch'),
  rule('apps', 'daemonsets deployments replicasets statefulsets', 'list watch'),
  rule('batch', 'cronjobs jobs', 'list watch'),
];
const kinds = kubeStateMetricsRules.flatMap(({ resources }) => resources).toSorted();

/** One program for the whole cluster, which only the telemetry proxy of the leader scrapes. */
export class KubeStateMetrics extends Construct {
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const { kubeStateMetrics, namespace } = settings;
    if (!kubeStateMetrics.install || kubeStateMetrics.address !== '') return;
    const name = `${settings.name}${suffixes.kubeStateMetrics}`;
    const common = labels(settings, component);
    const selector = selectorLabels(settings, component);
    const metadata = { name, namespace, labels: common };
    new k8s.KubeServiceAccount(this, 'account', { metadata, automountServiceAccountToken: false });
    grant(this, settings, { metadata: { name, labels: common }, granted: kubeStateMetricsRules, account: name });
    new ApiObject(this, 'deployment', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { ...metadata, labels: { ...common, ...optOut } },
      spec: {
        replicas: 1,
        selector: { matchLabels: selector },
        // Two at once would be counted twice.
        strategy: { type: 'Recreate' },
        template: {
          metadata: podMetadata(settings, { ...common, ...optOut }, component),
          spec: {
            ...operatorPod(settings, 'kubeStateMetrics'),
            serviceAccountName: name,
            containers: [container(settings)],
          },
        },
      },
    });
    const targetPort = k8s.IntOrString.fromNumber(KUBE_STATE_METRICS_PORT);
    new k8s.KubeService(this, 'service', {
      metadata,
      spec: {
        type: 'ClusterIP',
        selector,
        ports: [{ name: 'metrics', port: KUBE_STATE_METRICS_PORT, targetPort, protocol: 'TCP' }],
      },
    });
    if (!settings.networkPolicy.enabled) return;
    // A pod on the network of its node has the node's address, which no selector matches.
    const from = settings.hostNetwork ? [] : [{ podSelector: { matchLabels: selectorLabels(settings) } }];
    addNetworkPolicy(this, { metadata, pods: selector, ingress: [{ from, ports: [KUBE_STATE_METRICS_PORT] }] });
  }
}

function container(settings: Settings) {
  const probe = (path: string, port: number) => ({ httpGet: { path, port }, periodSeconds: 10, timeoutSeconds: 5 });
  return {
    name: component,
    ...containerOf(settings, settings.kubeStateMetrics),
    args: [
      `--port=${KUBE_STATE_METRICS_PORT}`,
      `--telemetry-port=${TELEMETRY_PORT}`,
      `--resources=${kinds.join(',')}`,
      `--metric-labels-allowlist=${labelsAllowed}`,
      '--use-apiserver-cache=true',
    ],
    livenessProbe: probe('/livez', KUBE_STATE_METRICS_PORT),
    readinessProbe: probe('/readyz', TELEMETRY_PORT),
  };
}
