import { z } from 'zod';
import { excludedNamespaces, knownSidecars, webhooks } from '../../runtime/contract.ts';
import { endpoint } from './endpoint.ts';
import {
  commonName,
  dnsLabel,
  dnsSubdomain,
  fields,
  flag,
  image,
  imagePrefix,
  oneOf,
  opaqueList,
  opaqueMap,
  quantity,
  section,
  stringMap,
  text,
  wholeNumber,
} from './leaves.ts';
import { certificates } from './certificates.ts';
import { metrics } from './metrics.ts';
import { lumigoToken, monitoredNamespaces } from './monitored.ts';
import { networkPolicy } from './network-policy.ts';
import { nodeSelector, tolerations } from './placement.ts';
import { ports } from './ports.ts';
import { imageRepositoryOf } from '../publisher.ts';
import { rollout } from './rollout.ts';
import { updater } from './updater.ts';
import { operatorVersion } from '../version.ts';

/** The longest name derived from the installation's has 35 characters more, and a Service's name has at most 63. */
const NAME_LENGTH = 28;

/** Linux on the two architectures that the images are built for. */
const linuxNodes = {
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [
        {
          matchExpressions: [
            { key: 'kubernetes.io/os', operator: 'In', values: ['linux'] },
            { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64', 'arm64'] },
          ],
        },
      ],
    },
  },
};

/** The release that the configuration is tested with, and its content (of all architectures). */
export const collectorImage = {
  tag: '0.130.0',
  digest: 'sha256:867d1074c2f750936fb9358ec9eefa009308053cf156b2c7ca1761ba5ef78452',
} as const;

const controllerManager = section({
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
      batches: wholeNumber(1, 1_000_000)
        .default(5_000)
        .describe(
          'How many batches of up to 1,024 spans wait on disk while Lumigo does not answer; for each of sixteen lanes, over which tokens are spread.',
        ),
      sizeLimit: quantity().default('2Gi').describe('How much disk the queue may take of the node.'),
      claimName: z
        .union([z.literal(''), dnsSubdomain()], { error: 'must be the name of a PersistentVolumeClaim, or empty' })
        .default('')
        .describe(
          "A PersistentVolumeClaim in the operator's namespace for the queue, which then outlives the pod; it needs `controllerManager.replicas: 1`. Empty: the node's disk, for as long as the pod lives.",
        ),
    }),
  }),
});

const injection = section({
  imagePullPolicy: oneOf('Always', 'IfNotPresent', 'Never')
    .default('IfNotPresent')
    .describe("When nodes pull the injector's image for instrumented pods."),
  imagePullSecrets: z
    .array(dnsSubdomain(), { error: 'must be a list of names' })
    .default([])
    .describe("Names of pull secrets that instrumented pods gain; each must exist in the workload's own namespace."),
  sidecars: z
    .array(dnsLabel(), { error: 'must be a list of names' })
    .min(1, 'must name at least one container; one that no pod has leaves none alone')
    .default([...knownSidecars])
    .describe(
      'Names of containers that are left alone, as those of service meshes and secret agents, unless the annotation ' +
        '`lumigo.inject-containers` of workload or pod template names them.',
    ),
  podMode: flag()
    .default(false)
    .describe(
      'Whether a Lumigo may ask for Pod mode (`spec.tracing.injection.mode: Pod`): pods are injected as they are created, and no ' +
        'workload is changed. It gives the operator a webhook for the pods of such namespaces, and the right to evict pods ' +
        '(docs/pod-mode.md).',
    ),
  updateOnUpgrade: flag()
    .default(false)
    .describe(
      'Whether an upgrade of the operator renews the injection of running workloads, which restarts their pods. ' +
        'Otherwise a workload gets the new version when its pod template next changes.',
    ),
});

const webhook = section({
  excludedNamespaces: z
    .array(dnsLabel(), { error: 'must be a list of namespaces' })
    .min(1, 'must name at least one namespace, such as kube-system')
    .default([...excludedNamespaces])
    .describe("Namespaces whose workloads are never instrumented; the operator's own is always one of them."),
  timeoutSeconds: wholeNumber(1, 30)
    .default(webhooks.timeoutSeconds)
    .describe('How long the API server waits for the webhook before it goes on without.'),
  clientCa: section({
    configMap: z
      .union([z.literal(''), dnsSubdomain()], { error: 'must be the name of a ConfigMap, or empty' })
      .default('')
      .describe(
        "A ConfigMap in the operator's namespace whose `ca.crt` is the authority of the API server's client certificate: nobody " +
          'else is answered by the webhook. The API server has to be told of that certificate first, which managed clusters do ' +
          'not offer (docs/security.md). Empty: the webhook answers everybody.',
      ),
    names: z
      .array(commonName(), { error: 'must be a list of common names' })
      .default([])
      .describe(
        'The common names of which that certificate has to have one; empty: any. Needed where the authority signs for others too, ' +
          "as the cluster's own does.",
      ),
  }),
});

/**
 * Every setting of an installation, with its form, its default and its meaning. Names that the original operator's Helm
 * chart has are kept. From here come the values of the deliveries, their schema, the reference in docs/ and, through the
 * constructs, the environment of the runtime.
 *
 * Leaves are texts, whole numbers and flags; maps and lists of Kubernetes' own form pass as they are.
 */
export const settingsSchema = fields({
  name: dnsLabel(NAME_LENGTH)
    .default('lumigo-lumigo-operator')
    .describe('The name of the installation, with which the names of its objects begin.'),
  instance: z
    .union([z.literal(''), dnsLabel()], { error: 'must consist of lower-case letters, digits and -, or be empty' })
    .default('')
    .describe(
      'What stands in the label `app.kubernetes.io/instance`; it can never change. Empty: `name` without `-lumigo-operator` at its end. ' +
        'Whoever comes from a release of the original operator, and not by Helm, gives the name of that release.',
    ),
  namespace: dnsLabel().default('lumigo-system').describe('The namespace of the operator.'),
  createNamespace: flag()
    .default(true)
    .describe(
      'Whether the manifests contain the namespace, which then admits pods of the `restricted` Pod Security Standard only.',
    ),
  platform: oneOf('auto', 'kubernetes', 'openshift')
    .default('auto')
    .describe(
      "OpenShift assigns user ids itself; there the injection pins none. `auto`: the operator asks the API server whether it is one. Plain YAML for OpenShift needs `openshift` all the same, for the operator's own pods.",
    ),
  kubernetesClusterDomain: dnsSubdomain().default('cluster.local').describe("The cluster's DNS domain."),
  cluster: section({ name: text().default('').describe('A name for this cluster, shown with its telemetry.') }),
  endpoint: endpoint,
  controllerManager: controllerManager,
  injectorWebhook: section({
    lumigoInjector: section({
      image: image(
        { repository: 'public.ecr.aws/lumigo/lumigo-autotrace', tag: 'latest' },
        "the injector (with Lumigo's tracers)",
      ),
    }),
  }),
  injection: injection,
  rollout: rollout,
  removal: section({
    deadlineSeconds: wholeNumber(1, 86_400)
      .default(120)
      .describe('How long a workload that cannot be updated may hold up the deletion of its Lumigo resource.'),
  }),
  webhook: webhook,
  certificates: certificates,
  lumigoToken: lumigoToken,
  monitoredNamespaces: monitoredNamespaces,
  updater: updater,
  networkPolicy: networkPolicy,
  metrics: metrics,
  debug: section({ enabled: flag().default(false).describe('Whether the operator logs at debug level.') }),
  imagePrefix: imagePrefix()
    .default('')
    .describe(
      "What stands in front of every image's name, the injector's and the telemetry proxy's included: a registry of your own with a copy " +
        'of each under its whole name, such as `registry.example.com/mirror/`.',
    ),
  imagePullSecrets: opaqueList()
    .default([])
    .describe("Pull secrets of the operator's own pods, e.g. `[{name: registry}]`; they must exist in its namespace."),
  priorityClassName: z
    .union([z.literal(''), dnsSubdomain()], { error: 'must be the name of a PriorityClass, or empty' })
    .default('')
    .describe(
      "The PriorityClass of the operator's pods; empty: one of its own, unless `priorityClass.create` is false.",
    ),
  priorityClass: section({
    create: flag()
      .default(true)
      .describe(
        'Whether the operator brings a PriorityClass, where `priorityClassName` names none. Without either its pods have none.',
      ),
  }),
  hostNetwork: flag()
    .default(false)
    .describe(
      "Whether the operator's pods are on the network of their nodes: for control planes that reach nodes and no pods, as on EKS with a " +
        "network of one's own. Then `ports` are the nodes', no two replicas fit on one node, and the namespace must admit privileged pods.",
    ),
  ports: ports,
  podAnnotations: stringMap().default({}).describe("Annotations for the operator's pods."),
  podLabels: stringMap().default({}).describe("Labels for the operator's pods."),
  nodeSelector: nodeSelector,
  tolerations: tolerations,
  affinity: opaqueMap().default(linuxNodes).describe("Affinity of the operator's pods."),
});

/** All settings of an installation, complete. */
export type Settings = z.output<typeof settingsSchema>;
