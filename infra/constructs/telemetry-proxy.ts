import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { mounts, ports, suffixes, telemetryProxyFiles } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import { imageReference } from './image.ts';
import { labels, selectorLabels } from './labels.ts';
import { containerSecurity, managerAccountMount, operatorContainer, probes, type Raw } from './pod.ts';
import { drainSeconds, telemetryProxyUrl, type Delivery } from './runtime-environment.ts';

const configuration = 'telemetry-proxy-configuration';
const account = 'telemetry-proxy-account';
const queue = 'telemetry-proxy-queue';

/** Where the manager writes what the telemetry proxy reads: its configuration, and its own account's token. */
export const writtenMounts = [
  { name: configuration, mountPath: mounts.telemetryProxyConfiguration },
  { name: account, mountPath: mounts.telemetryProxyAccount },
];

export interface TelemetryProxyProps {
  readonly settings: Settings;
  readonly delivery: Delivery;
}

/** What instrumented programs send their telemetry to: an OpenTelemetry Collector in the operator's pod, behind a Service. */
export class TelemetryProxy extends Construct {
  readonly serviceName: string;
  /** Where programs of any namespace send OTLP over HTTP to. */
  readonly url: string;
  /** Writes the configuration that the collector starts with. */
  readonly initContainer: Raw;
  readonly container: Raw;
  readonly volumes: readonly Raw[];

  constructor(scope: Construct, id: string, props: TelemetryProxyProps) {
    super(scope, id);
    const { settings } = props;
    const { name, namespace } = settings;
    const target = k8s.IntOrString.fromString;
    this.serviceName = `${name}${suffixes.telemetryProxyService}`;
    this.url = telemetryProxyUrl(settings);
    new k8s.KubeService(this, 'service', {
      metadata: { name: this.serviceName, namespace, labels: labels(settings, 'telemetry-proxy') },
      spec: {
        type: 'ClusterIP',
        selector: selectorLabels(settings),
        ports: [
          { name: 'otlp-http', port: 80, targetPort: target('otlp-http'), protocol: 'TCP', appProtocol: 'http' },
          { name: 'otlp-grpc', port: ports.otlpGrpc, targetPort: target('otlp-grpc'), protocol: 'TCP' },
        ],
      },
    });
    this.initContainer = initContainer(props);
    this.container = container(settings);
    this.volumes = volumes(settings);
  }
}

function initContainer({ settings, delivery }: TelemetryProxyProps): Raw {
  return {
    name: 'telemetry-proxy-configuration',
    ...operatorContainer(settings, delivery),
    args: ['prepare-telemetry-proxy'],
    volumeMounts: [...writtenMounts, managerAccountMount],
  };
}

function container(settings: Settings): Raw {
  const { image, resources } = settings.controllerManager.telemetryProxy;
  const { otlpHttp, otlpGrpc, telemetryHealth, telemetryMetrics } = settings.ports;
  const port = (portName: string, containerPort: number) => ({ name: portName, containerPort, protocol: 'TCP' });
  return {
    name: 'telemetry-proxy',
    image: imageReference(image, settings.imagePrefix),
    imagePullPolicy: 'IfNotPresent',
    args: [
      `--config=${mounts.telemetryProxyConfiguration}/${telemetryProxyFiles.configuration}`,
      // The queue on disk keeps with each batch under which token it came.
      '--feature-gates=exporter.PersistRequestContext',
    ],
    env: memory,
    ports: [
      port('otlp-http', otlpHttp),
      port('otlp-grpc', otlpGrpc),
      port('otlp-health', telemetryHealth),
      ...(settings.metrics.secure ? [] : [port('otlp-metrics', telemetryMetrics)]),
    ],
    ...probes('otlp-health', '/', '/'),
    // It goes on for a moment when the pod is to stop, until every node has noticed that it is out of service; but not for as long as the
    // manager, which sees to its end. The kubelet does that by itself: there is nothing that another pod could call.
    lifecycle: { preStop: { sleep: { seconds: drainSeconds - 1 } } },
    resources,
    securityContext: containerSecurity,
    volumeMounts: [
      { name: configuration, mountPath: mounts.telemetryProxyConfiguration, readOnly: true },
      { name: account, mountPath: mounts.serviceAccount, readOnly: true },
      { name: queue, mountPath: mounts.telemetryProxyQueue },
    ],
  };
}

/**
 * Go's garbage collector works harder from 95 % of the limit on: as many million bytes as the limit has MiB. In this form
 * it follows whatever limit is set, in every delivery. Before that the collector's own memory_limiter sets in, at 80 %.
 */
const memory = [
  {
    name: 'MEMORY_LIMIT_MIB',
    valueFrom: { resourceFieldRef: { containerName: 'telemetry-proxy', resource: 'limits.memory', divisor: '1Mi' } },
  },
  { name: 'GOMEMLIMIT', value: '$(MEMORY_LIMIT_MIB)000000' },
];

function volumes(settings: Settings): Raw[] {
  const { claimName, sizeLimit } = settings.controllerManager.telemetryProxy.queue;
  return [
    // They hold tokens, so they are never on a disk.
    { name: configuration, emptyDir: { medium: 'Memory', sizeLimit: '16Mi' } },
    { name: account, emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
    { name: queue, ...(claimName === '' ? { emptyDir: { sizeLimit } } : { persistentVolumeClaim: { claimName } }) },
  ];
}
