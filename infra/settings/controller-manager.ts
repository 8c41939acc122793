import { getImageRepository } from './publisher.ts';
import { operatorVersion } from './version.ts';
import { dnsSubdomain, image, opaqueMap, orEmpty, quantity, section, wholeNumber } from './leaves.ts';

/** The release that the configuration is tested with, and its digest for all architectures. */
export const collectorImage = {
  tag: '0.152.0',
  digest: 'sha256:f41d7995565df3733b7568702073a9c490792f9c6ac60684fe6a4da21a313f8d',
} as const;

export const controllerManager = section({
  replicas: wholeNumber(1, 20)
    .default(2)
    .describe('Number of operator pods. One leads, all serve the webhook. With 1, injection pauses while it restarts.'),
  manager: section({
    image: image(
      { repository: getImageRepository('lumigo-kubernetes-operator'), tag: operatorVersion() },
      'the operator',
    ),
    resources: opaqueMap()
      .default({ requests: { cpu: '50m', memory: '128Mi' }, limits: { cpu: '1', memory: '256Mi' } })
      .describe('Requests and limits of the manager container. Its heap is at most 60 % of the memory limit.'),
  }),
  telemetryProxy: section({
    image: image(
      { repository: 'docker.io/otel/opentelemetry-collector-contrib', ...collectorImage },
      'the telemetry proxy (an OpenTelemetry Collector)',
    ),
    resources: opaqueMap()
      .default({ requests: { cpu: '50m', memory: '128Mi' }, limits: { cpu: '1', memory: '512Mi' } })
      .describe(
        'Requests and limits of the telemetry proxy. Above 80 % of the memory limit it refuses data. The default is enough for 10,000 pods in the cluster.',
      ),
    queue: section({
      shardSize: quantity()
        .default('128Mi')
        .describe(
          'Disk space of one queue, where telemetry waits while Lumigo does not answer. Each of sixteen shards has a queue for traces, one for ' +
            'logs and one for metrics. A thousand spans take about 0.5 MB. If a queue is full, new data is dropped.',
        ),
      sizeLimit: quantity()
        .default('4Gi')
        .describe(
          'Disk space of all 48 queues together on the node. Kubernetes evicts a pod that uses more, with its webhook. ' +
            'A full queue takes up to twice its `shardSize`, so the default has room for sixteen full queues.',
        ),
      claimName: orEmpty(dnsSubdomain(), 'must be the name of a PersistentVolumeClaim, or empty').describe(
        "A PersistentVolumeClaim in the operator's namespace for the queue, which then survives the pod. It needs `controllerManager.replicas: 1`. Empty: the queue is on the node's disk and is deleted with the pod.",
      ),
    }),
  }),
});
