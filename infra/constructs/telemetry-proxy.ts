import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { annotations, mounts, ports, suffixes, telemetryProxyFiles } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import { labels, selectorLabels, type Installation } from './labels.ts';
import { accountMount, containerOf, containerPort, operatorContainer, probes, type JsonObject } from './pod.ts';
import { drainSeconds, telemetryProxyUrl, type Delivery } from './runtime-environment.ts';

const configuration = 'telemetry-proxy-configuration';
const account = 'telemetry-proxy-account';
const queue = 'telemetry-proxy-queue';

/** The manager writes the telemetry proxy's configuration and its account's token here. */
export const writtenMounts = [
  { name: configuration, mountPath: mounts.telemetryProxyConfiguration },
  { name: account, mountPath: mounts.telemetryProxyAccount },
];

export type TelemetryProxyProps = Installation & Pick<Settings, 'kubernetesClusterDomain'>;

/** The Service of the OpenTelemetry Collector in the operator's pod, to which instrumented programs send telemetry. */
export class TelemetryProxy extends Construct {
  readonly serviceName: string;
  readonly url: string;

  constructor(scope: Construct, id: string, props: TelemetryProxyProps) {
    super(scope, id);
    const { name, namespace } = props;
    const target = k8s.IntOrString.fromString;
    this.serviceName = `${name}${suffixes.telemetryProxyService}`;
    this.url = telemetryProxyUrl(props);
    new k8s.KubeService(this, 'service', {
      metadata: { name: this.serviceName, namespace, labels: labels(props, 'telemetry-proxy') },
      spec: {
        type: 'ClusterIP',
        selector: selectorLabels(props),
        ports: [
          { name: 'otlp-http', port: 80, targetPort: target('otlp-http'), protocol: 'TCP', appProtocol: 'http' },
          { name: 'otlp-grpc', port: ports.otlpGrpc, targetPort: target('otlp-grpc'), protocol: 'TCP' },
        ],
      },
    });
  }
}

export const telemetryProxyInitContainer = (settings: Settings, delivery: Delivery): JsonObject => ({
  name: 'telemetry-proxy-configuration',
  ...operatorContainer(settings, delivery),
  args: ['prepare-telemetry-proxy'],
  volumeMounts: [...writtenMounts, accountMount],
});

export function telemetryProxyContainer(settings: Settings): JsonObject {
  const { otlpHttp, otlpGrpc, telemetryHealth, telemetryMetrics } = settings.ports;
  return {
    name: 'telemetry-proxy',
    ...containerOf(settings, settings.controllerManager.telemetryProxy),
    args: [
      `--config=${mounts.telemetryProxyConfiguration}/${telemetryProxyFiles.configuration}`,
      // The queue on disk stores each batch with its token.
      '--feature-gates=exporter.PersistRequestContext',
    ],
    env: collectorMemory('telemetry-proxy'),
    ports: [
      containerPort('otlp-http', otlpHttp),
      containerPort('otlp-grpc', otlpGrpc),
      containerPort('otlp-health', telemetryHealth),
      ...(settings.metrics.secure ? [] : [containerPort('otlp-metrics', telemetryMetrics)]),
    ],
    // A reload gives no answer for up to 65 s, for which five failures are enough (reloader.ts).
    ...probes('otlp-health', '/', '/', 5),
    // The collector serves until each node knows that the pod is out of service, but ends before the manager, which supervises it.
    lifecycle: { preStop: { sleep: { seconds: drainSeconds - 1 } } },
    volumeMounts: [
      { name: configuration, mountPath: mounts.telemetryProxyConfiguration, readOnly: true },
      { name: account, mountPath: mounts.serviceAccount, readOnly: true },
      { name: queue, mountPath: mounts.telemetryProxyQueue },
    ],
  };
}

/** Go's garbage collector works harder above 95 % of the limit: 1 million bytes per MiB. The collector's memory_limiter starts at 80 %. */
export const collectorMemory = (containerName: string) => [
  {
    name: 'MEMORY_LIMIT_MIB',
    valueFrom: { resourceFieldRef: { containerName, resource: 'limits.memory', divisor: '1Mi' } },
  },
  { name: 'GOMEMLIMIT', value: '$(MEMORY_LIMIT_MIB)000000' },
];

export function telemetryProxyVolumes(settings: Settings): JsonObject[] {
  const { claimName, sizeLimit } = settings.controllerManager.telemetryProxy.queue;
  return [
    // The files contain tokens, so they are only in memory.
    { name: configuration, emptyDir: { medium: 'Memory', sizeLimit: '16Mi' } },
    { name: account, emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
    { name: queue, ...(claimName === '' ? { emptyDir: { sizeLimit } } : { persistentVolumeClaim: { claimName } }) },
  ];
}

/** The cluster autoscaler never removes the node of a pod that has another `emptyDir`. */
export function evictableVolumes(settings: Settings) {
  const names = telemetryProxyVolumes(settings).flatMap(({ name, emptyDir }) => (emptyDir === undefined ? [] : [name]));
  return { [annotations.safeToEvict]: names.join() };
}
