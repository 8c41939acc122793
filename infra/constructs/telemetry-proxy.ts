import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { stringify } from 'yaml';
import { mounts, ports, suffixes } from '../../runtime/contract.ts';
import type { Settings } from '../settings-schema.ts';
import { imageReference } from './image.ts';
import { labels, selectorLabels } from './labels.ts';
import { containerSecurity, probes, type Raw } from './pod.ts';

const configurationFile = 'collector.yaml';
const volume = 'telemetry-proxy-configuration';
const everywhere = (port: number): string => `0.0.0.0:${port}`;

/** The collector's configuration: it takes telemetry in by OTLP and says how much in its log. */
const configuration = {
  extensions: { health_check: { endpoint: everywhere(ports.telemetryHealth) } },
  receivers: {
    otlp: {
      protocols: { grpc: { endpoint: everywhere(ports.otlpGrpc) }, http: { endpoint: everywhere(ports.otlpHttp) } },
    },
  },
  exporters: { debug: {} },
  service: {
    extensions: ['health_check'],
    pipelines: {
      traces: { receivers: ['otlp'], exporters: ['debug'] },
      logs: { receivers: ['otlp'], exporters: ['debug'] },
    },
  },
};

/** What instrumented programs send their telemetry to: an OpenTelemetry Collector in the operator's pod, behind a Service. */
export class TelemetryProxy extends Construct {
  readonly container: Raw;
  readonly volumes: readonly Raw[];

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const { name, namespace } = settings;
    const common = labels(settings, 'telemetry-proxy');
    const configMap = `${name}${suffixes.telemetryProxyConfiguration}`;

    new k8s.KubeConfigMap(this, 'configuration', {
      metadata: { name: configMap, namespace, labels: common },
      data: { [configurationFile]: stringify(configuration) },
    });

    const target = k8s.IntOrString.fromString;
    new k8s.KubeService(this, 'service', {
      metadata: { name: `${name}${suffixes.telemetryProxyService}`, namespace, labels: common },
      spec: {
        type: 'ClusterIP',
        selector: selectorLabels(settings),
        ports: [
          { name: 'otlp-http', port: 80, targetPort: target('otlp-http'), protocol: 'TCP', appProtocol: 'http' },
          { name: 'otlp-grpc', port: ports.otlpGrpc, targetPort: target('otlp-grpc'), protocol: 'TCP' },
        ],
      },
    });

    this.container = container(settings);
    this.volumes = [{ name: volume, configMap: { name: configMap } }];
  }
}

function container(settings: Settings): Raw {
  const { image, resources } = settings.controllerManager.telemetryProxy;
  const port = (portName: string, containerPort: number) => ({ name: portName, containerPort, protocol: 'TCP' });
  return {
    name: 'telemetry-proxy',
    image: imageReference(image),
    imagePullPolicy: 'IfNotPresent',
    args: [`--config=${mounts.telemetryProxyConfiguration}/${configurationFile}`],
    env: [
      { name: 'LUMIGO_ENDPOINT', value: settings.endpoint.otlp.url },
      { name: 'LUMIGO_CLUSTER_NAME', value: settings.cluster.name },
    ],
    ports: [
      port('otlp-http', ports.otlpHttp),
      port('otlp-grpc', ports.otlpGrpc),
      port('otlp-health', ports.telemetryHealth),
    ],
    ...probes('otlp-health', '/', '/'),
    resources,
    securityContext: containerSecurity,
    volumeMounts: [{ name: volume, mountPath: mounts.telemetryProxyConfiguration, readOnly: true }],
  };
}
