import { imageRepositoryOf } from '../publisher.ts';
import { operatorVersion } from '../version.ts';
import { dnsSubdomain, image, opaqueMap, orEmpty, quantity, section, wholeNumber } from './leaves.ts';

/** The release that the configuration is tested with, and its content (of all architectures). */
export const collectorImage = {
  tag: '0.130.0',
  digest: 'sha256:867d1074c2f750936fb9358ec9eefa009308053cf156b2c7ca1761ba5ef78452',
} as const;

/** The pods of the operator: the manager and, beside it, the telemetry proxy. */
export const controllerManager = section({
  replicas: wholeNumber(1, 20)
    .default(2)
    .describe('How many pods serve the webhook; one of them leads. With one, injection pauses while it restarts.'),
  manager: section({
    image: image(
      { repository: imageRepositoryOf('lumigo-kubernetes-operator'), tag: operatorVersion() },
      'the operator',
    ),
    resources: opaqueMap()
      .default({ requests: { cpu: '50m', memory: '128Mi' }, limits: { cpu: '1', memory: '256Mi' } })
      .describe('Requests and limits of the manager container. Its heap takes 60 % of the memory limit.'),
  }),
  telemetryProxy: section({
    image: image(
      { repository: 'otel/opentelemetry-collector-contrib', ...collectorImage },
      'the telemetry proxy (an OpenTelemetry Collector)',
    ),
    resources: opaqueMap()
      .default({ requests: { cpu: '50m', memory: '128Mi' }, limits: { cpu: '1', memory: '512Mi' } })
      .describe(
        'Requests and limits of the telemetry proxy container. It keeps to 80 % of the memory limit, and takes nothing in beyond.',
      ),
    queue: section({
      laneSize: quantity()
        .default('512Mi')
        .describe(
          'How much waits on disk while Lumigo does not answer, for each of sixteen lanes, over which tokens are spread, and for traces and logs each; a thousand ' +
            'spans take some 0.5 MB. What comes when a lane is full is dropped.',
        ),
      sizeLimit: quantity()
        .default('4Gi')
        .describe(
          'How much disk all lanes may take of the node. Kubernetes evicts a pod that takes more: a lane that is full takes up to twice its `laneSize`, ' +
            'so with the defaults four may be.',
        ),
      claimName: orEmpty(dnsSubdomain(), 'must be the name of a PersistentVolumeClaim, or empty').describe(
        "A PersistentVolumeClaim in the operator's namespace for the queue, which then outlives the pod; it needs `controllerManager.replicas: 1`. Empty: the node's disk, for as long as the pod lives.",
      ),
    }),
  }),
});
