import { assumedInstallation } from '../../runtime/installation/assumed.ts';
import type { z } from 'zod';
import {
  dnsLabel,
  dnsSubdomain,
  fields,
  flag,
  httpUrl,
  image,
  imagePrefix,
  oneOf,
  opaqueList,
  opaqueMap,
  orEmpty,
  section,
  serviceName,
  stringMap,
  text,
  wholeNumber,
} from './leaves.ts';
import { certificates } from './certificates.ts';
import { controllerManager } from './controller-manager.ts';
import { injection } from './injection.ts';
import { metrics } from './metrics.ts';
import { lumigoToken, monitoredNamespaces } from './monitored.ts';
import { networkPolicy } from './network-policy.ts';
import { nodeSelector, tolerations } from './placement.ts';
import { ports } from './ports.ts';
import { rollout } from './rollout.ts';
import { updater } from './updater.ts';
import { webhook } from './webhook.ts';

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

/**
 * Every setting of an installation, with its form, its default and its meaning. Names that the original operator's Helm
 * chart has are kept. From here come the values of the deliveries, their schema, the reference in docs/ and, through the
 * constructs, the environment of the runtime.
 *
 * Leaves are texts, whole numbers and flags; maps and lists of Kubernetes' own form pass as they are.
 */
export const settingsSchema = fields({
  name: serviceName(NAME_LENGTH)
    .default(assumedInstallation.operatorName)
    .describe('The name of the installation, with which the names of its objects begin.'),
  instance: orEmpty(dnsLabel(), 'must consist of lower-case letters, digits and -, or be empty').describe(
    'What stands in the label `app.kubernetes.io/instance`; it can never change. Empty: `name` without `-lumigo-operator` at its end. ' +
      'Whoever comes from a release of the original operator, and not by Helm, gives the name of that release.',
  ),
  namespace: dnsLabel().default(assumedInstallation.operatorNamespace).describe('The namespace of the operator.'),
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
  endpoint: section({
    otlp: section({
      url: httpUrl()
        .default('https://ga-otlp.lumigo-tracer-edge.golumigo.com')
        .describe('Where traces and logs go, by OTLP over HTTP.'),
      logs_url: orEmpty(httpUrl(), 'must be an http:// or https:// URL without a slash at its end, or empty').describe(
        'Where logs go, Kubernetes events and objects included, if not there; empty: there.',
      ),
    }),
  }),
  controllerManager,
  injectorWebhook: section({
    lumigoInjector: section({
      image: image(
        { repository: 'public.ecr.aws/lumigo/lumigo-autotrace', tag: 'latest' },
        "the injector (with Lumigo's tracers)",
      ),
    }),
  }),
  injection,
  rollout,
  removal: section({
    deadlineSeconds: wholeNumber(1, 86_400)
      .default(120)
      .describe('How long a workload that cannot be updated may hold up the deletion of its Lumigo resource.'),
  }),
  webhook,
  certificates,
  lumigoToken,
  monitoredNamespaces,
  updater,
  networkPolicy,
  metrics,
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
  priorityClassName: orEmpty(dnsSubdomain(), 'must be the name of a PriorityClass, or empty').describe(
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
  ports,
  podAnnotations: stringMap().default({}).describe("Annotations for the operator's pods."),
  podLabels: stringMap().default({}).describe("Labels for the operator's pods."),
  nodeSelector,
  tolerations,
  affinity: opaqueMap().default(linuxNodes).describe("Affinity of the operator's pods."),
});

/** All settings of an installation, complete. */
export type Settings = z.output<typeof settingsSchema>;
