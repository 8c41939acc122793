import { mounts, nodeCollectorFiles, nodeVariables, ports, suffixes } from '../../runtime/contract.ts';
import { nodeCollectorKinds } from '../../runtime/config/config.ts';
import { NODE_EXPORTER_ADDRESS } from '../../runtime/node-collector/render-scrapes.ts';
import type { Settings } from '../settings/schema.ts';
import { operatorVersion } from '../settings/version.ts';
import { configured, environmentWith } from './configuration.ts';
import type { Image } from './image.ts';
import {
  accountMount,
  accountVolume,
  containerOf,
  containerPort,
  containerSecurity,
  operatorPod,
  probes,
  type JsonObject,
} from './pod.ts';
import { collectorMemory } from './telemetry-proxy.ts';

const configuration = 'configuration';
const key = 'key';
const state = 'state';
const podLogs = 'pod-logs';
const hostFolders = ['proc', 'sys'] as const;

/** Lists have their optional items at the end, so that the chart can add each without the others. */
export function nodeCollectorPod(settings: Settings, account: string): JsonObject {
  const { metrics } = settings.clusterCollection;
  return {
    ...operatorPod(settings, 'clusterAgent', settings.logFileCollector.priorityClassName),
    serviceAccountName: account,
    automountServiceAccountToken: false,
    initContainers: [initContainer(settings)],
    containers: [collector(settings), ...(metrics.enabled ? [nodeExporter(settings)] : [])],
    volumes: volumes(settings),
  };
}

/** If the node has SELinux, no other type can read log files. */
const ofLogs = { runAsNonRoot: false, runAsUser: 0, runAsGroup: 0, seLinuxOptions: { type: 'spc_t' } };

/** Log files belong to the node's root user. Without them, no part needs that user or a directory of the node. */
const collectorOf = (settings: Settings, image: Image): JsonObject => ({
  ...containerOf(settings, { image, resources: settings.logFileCollector.resources }),
  securityContext: { ...containerSecurity, ...(settings.clusterCollection.logs.enabled ? ofLogs : {}) },
});

const fromNode = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });

export const nodeCollectorConfig = (settings: Settings) =>
  configured(nodeCollectorKinds, settings, {
    version: operatorVersion(),
    proxyUrl: `http://${settings.name}${suffixes.nodeData}.${settings.namespace}.svc.${settings.kubernetesClusterDomain}:${settings.ports.nodeData}`,
    logLevel: settings.debug.enabled ? 'debug' : 'info',
  });

function initContainer(settings: Settings): JsonObject {
  return {
    name: 'configuration',
    ...collectorOf(settings, settings.controllerManager.manager.image),
    args: ['prepare-node-collector'],
    env: [
      ...environmentWith(nodeCollectorConfig(settings)),
      fromNode(nodeVariables.name, 'spec.nodeName'),
      fromNode(nodeVariables.address, 'status.hostIP'),
    ],
    volumeMounts: [{ name: configuration, mountPath: mounts.nodeCollectorConfiguration }],
  };
}

function collector(settings: Settings): JsonObject {
  const { logs, metrics } = settings.clusterCollection;
  return {
    name: 'collector',
    ...collectorOf(settings, settings.controllerManager.telemetryProxy.image),
    args: [`--config=${mounts.nodeCollectorConfiguration}/${nodeCollectorFiles.configuration}`],
    env: collectorMemory('collector'),
    ports: [containerPort('health', ports.telemetryHealth), containerPort('metrics', ports.telemetryMetrics)],
    ...probes('health', '/', '/'),
    volumeMounts: [
      { name: configuration, mountPath: mounts.nodeCollectorConfiguration, readOnly: true },
      { name: key, mountPath: mounts.nodeCollectorKey, readOnly: true },
      { name: state, mountPath: mounts.nodeCollectorState },
      ...(logs.enabled ? [{ name: podLogs, mountPath: mounts.podLogs, readOnly: true }] : []),
      ...(metrics.enabled ? [accountMount] : []),
    ],
  };
}

/** The kernel shows CPU and memory of the whole node in each container. Other metrics need folders of the node. */
function nodeExporter(settings: Settings): JsonObject {
  const { essentialOnly } = settings.clusterCollection.metrics;
  return {
    name: 'node-exporter',
    ...containerOf(settings, settings.prometheusNodeExporter),
    args: [`--web.listen-address=${NODE_EXPORTER_ADDRESS}`, ...(essentialOnly ? essentialCollectors : allCollectors)],
    ...(essentialOnly
      ? {}
      : { volumeMounts: hostFolders.map((name) => ({ name, mountPath: `/host/${name}`, readOnly: true })) }),
  };
}

const essentialCollectors = ['--collector.disable-defaults', '--collector.cpu', '--collector.meminfo'];
/** They would read the network of the pod. `netclass` is not one of them, because `/sys` shows the network of the node. */
const ofNetwork = ['netdev', 'netstat', 'sockstat', 'udp_queues', 'arp', 'conntrack', 'ipvs', 'nfs', 'nfsd'];
/** File systems would need the root directory of the node. The kubelet has metrics of them. */
const withoutCollectors = ['filesystem', ...ofNetwork].map((name) => `--no-collector.${name}`);
const allCollectors = ['--path.procfs=/host/proc', '--path.sysfs=/host/sys', ...withoutCollectors];

function volumes(settings: Settings): JsonObject[] {
  const { name, clusterCollection, logFileCollector } = settings;
  const { logs, metrics } = clusterCollection;
  const onNode = logs.enabled && logFileCollector.stateDirectory !== '';
  return [
    { name: configuration, emptyDir: { sizeLimit: '1Mi' } },
    { name: key, secret: { secretName: `${name}${suffixes.nodeCollector}`, defaultMode: 0o440 } },
    {
      name: state,
      ...(onNode
        ? { hostPath: { path: logFileCollector.stateDirectory, type: 'DirectoryOrCreate' } }
        : { emptyDir: {} }),
    },
    accountVolume,
    ...(logs.enabled ? [{ name: podLogs, hostPath: { path: mounts.podLogs, type: 'Directory' } }] : []),
    ...(metrics.enabled && !metrics.essentialOnly
      ? hostFolders.map((folder) => ({ name: folder, hostPath: { path: `/${folder}`, type: 'Directory' } }))
      : []),
  ];
}
