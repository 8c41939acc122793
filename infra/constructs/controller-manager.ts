import { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { paths, ports, suffixes } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import { labels, metricsLabels, optOut, ownedBy, selectorLabels } from './labels.ts';
import {
  accountMount,
  accountVolume,
  containerPort,
  operatorContainer,
  operatorPod,
  podMetadata,
  probes,
  type JsonObject,
} from './pod.ts';
import type { Delivery } from './runtime-environment.ts';
import {
  evictableVolumes,
  telemetryProxyContainer,
  telemetryProxyInitContainer,
  telemetryProxyVolumes,
  writtenMounts,
} from './telemetry-proxy.ts';

const component = 'controller-manager';

export interface ControllerManagerProps {
  readonly settings: Settings;
  readonly delivery: Delivery;
}

export class ControllerManager extends Construct {
  readonly deploymentName: string;
  readonly metricsServiceName: string;

  constructor(scope: Construct, id: string, props: ControllerManagerProps) {
    super(scope, id);
    const { settings } = props;
    const { name, namespace } = settings;
    this.deploymentName = `${name}${suffixes.manager}`;
    this.metricsServiceName = `${name}${suffixes.metricsService}`;
    const common = labels(settings, component);
    const podLabels = { ...ownedBy(settings), ...common, ...optOut };
    const selector = { matchLabels: selectorLabels(settings) };
    const bringsPriority = settings.priorityClassName === '' && settings.priorityClass.create;
    const priorityClassName = bringsPriority ? `${name}${suffixes.priorityClass}` : settings.priorityClassName;

    if (bringsPriority)
      new k8s.KubePriorityClass(this, 'priority', {
        metadata: { name: priorityClassName, labels: common },
        description: 'The Lumigo operator. Without it new workloads are traced only after a restart of their pods.',
        globalDefault: false,
        // The scheduler prefers the operator's pods, but evicts no pod for them.
        preemptionPolicy: 'Never',
        value: 1_000_000,
      });

    // The typed construct drops fields and quantities that it does not know. Settings must pass unchanged.
    new ApiObject(this, 'deployment', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: this.deploymentName, namespace, labels: { ...common, ...optOut } },
      spec: {
        replicas: settings.controllerManager.replicas,
        selector: { matchLabels: ownedBy(settings) },
        strategy: strategy(settings),
        template: {
          metadata: podMetadata(settings, podLabels, 'manager', evictableVolumes(settings)),
          spec: podSpec(props, priorityClassName),
        },
      },
    });

    // A minimum of available pods would block the drain of a node if there is a single replica.
    // The default policy would block it while no pod is ready.
    new k8s.KubePodDisruptionBudget(this, 'disruption-budget', {
      metadata: { name: `${name}${suffixes.manager}`, namespace, labels: common },
      spec: { maxUnavailable: k8s.IntOrString.fromNumber(1), unhealthyPodEvictionPolicy: 'AlwaysAllow', selector },
    });

    new k8s.KubeService(this, 'metrics-service', {
      metadata: { name: this.metricsServiceName, namespace, labels: metricsLabels(settings) },
      spec: { type: 'ClusterIP', selector: selectorLabels(settings), ports: metricsPorts(settings) },
    });
  }
}

/** A port name contains the protocol. With `metrics.secure`, the manager's port also serves the metrics of the telemetry proxy. */
function metricsPorts({ metrics }: Settings): k8s.ServicePort[] {
  const toPort = (name: string, port: number, target = name) => ({
    name,
    port,
    protocol: 'TCP',
    targetPort: k8s.IntOrString.fromString(target),
  });
  return metrics.secure
    ? [toPort('https-metrics', ports.metrics, 'metrics')]
    : [toPort('metrics', ports.metrics), toPort('otlp-metrics', ports.telemetryMetrics)];
}

/** Keeps the webhook available, unless a claimed volume must be free first. With host ports, a surge pod would need another node. */
function strategy({ controllerManager, hostNetwork }: Settings) {
  if (controllerManager.telemetryProxy.queue.claimName !== '') return { type: 'Recreate' };
  const rollingUpdate = hostNetwork ? { maxUnavailable: 1, maxSurge: 0 } : { maxUnavailable: 0, maxSurge: 1 };
  return { type: 'RollingUpdate', rollingUpdate };
}

function podSpec({ settings, delivery }: ControllerManagerProps, priorityClassName: string): JsonObject {
  return {
    ...operatorPod(settings, 'controllerManager', priorityClassName),
    // The telemetry proxy parses data of each workload, so it must not find the manager's token.
    automountServiceAccountToken: false,
    // Host network pods use the node's DNS by default, which does not know names of the cluster.
    ...(settings.hostNetwork ? { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' } : {}),
    // The removal of the whole operator needs this time to clean up (runtime/uninstall/shutdown-cleanup.ts). A usual end takes seconds.
    terminationGracePeriodSeconds: 90,
    // The manager signals the telemetry proxy's process after it writes a new configuration.
    shareProcessNamespace: true,
    topologySpreadConstraints: ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'].map((topologyKey) => ({
      maxSkew: 1,
      topologyKey,
      whenUnsatisfiable: 'ScheduleAnyway',
      // During an update, the former pods do not count.
      matchLabelKeys: ['pod-template-hash'],
      labelSelector: { matchLabels: selectorLabels(settings) },
    })),
    initContainers: [telemetryProxyInitContainer(settings, delivery)],
    containers: [managerContainer(settings, delivery), telemetryProxyContainer(settings)],
    volumes: [...telemetryProxyVolumes(settings), accountVolume],
  };
}

function managerContainer(settings: Settings, delivery: Delivery): JsonObject {
  const { webhook, health, metrics } = settings.ports;
  return {
    name: 'manager',
    ...operatorContainer(settings, delivery),
    args: ['manager'],
    ports: [containerPort('webhook', webhook), containerPort('health', health), containerPort('metrics', metrics)],
    ...probes('health', paths.live, paths.ready),
    volumeMounts: [...writtenMounts, accountMount],
  };
}
