import { assumedInstallation } from '../../runtime/installation/assumed.ts';
import { z } from 'zod';
import {
  dnsLabel,
  dnsSubdomain,
  fields,
  flag,
  httpUrl,
  image,
  imagePrefix,
  labelKey,
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
import { clusterCollection, kubeStateMetrics, logFileCollector, prometheusNodeExporter } from './cluster-collection.ts';
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

/** The longest derived name has 35 characters more, and a Service's name has at most 63. */
const NAME_LENGTH = 28;

/** The images are built for these two architectures. */
export const linuxNodes = {
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

const otherEndpoint = (what: string) =>
  orEmpty(httpUrl(), 'must be an http:// or https:// URL without a slash at its end, or empty').describe(
    `OTLP/HTTP endpoint for ${what}. Empty: \`endpoint.otlp.url\`.`,
  );

/** All settings, from which the deliveries' values, their schema, the reference in docs/ and the runtime's configuration derive. */
export const settingsSchema = fields({
  name: serviceName(NAME_LENGTH)
    .default(assumedInstallation.operatorName)
    .describe('The name of the installation. The names of its objects begin with it.'),
  instance: orEmpty(dnsLabel(), 'must consist of lower-case letters, digits and -, or be empty').describe(
    'The label `app.kubernetes.io/instance`, which cannot change later. Empty: `name` without `-lumigo-operator` at its end. ' +
      'If you replace a release of the original operator without Helm, set the name of that release.',
  ),
  namespace: dnsLabel().default(assumedInstallation.operatorNamespace).describe('The namespace of the operator.'),
  createNamespace: flag()
    .default(true)
    .describe(
      'Adds the namespace to the manifests. Its Pod Security Standard is `restricted`. With `hostNetwork`, log files or all metrics of nodes it is `privileged`. Set false before the installation: later, Pulumi would delete the namespace, which uninstalls the operator (docs/install/pulumi.md).',
    ),
  platform: oneOf('auto', 'kubernetes', 'openshift')
    .default('auto')
    .describe(
      "The kind of cluster. OpenShift assigns user ids itself, so the injection sets none there. `auto`: the operator detects OpenShift. Set `openshift` on OpenShift unless you install with Helm: only Helm detects it for the operator's own pods.",
    ),
  kubernetesClusterDomain: dnsSubdomain().default('cluster.local').describe("The cluster's DNS domain."),
  cluster: section({
    name: text().default('').describe('A name for this cluster. Lumigo shows it with the telemetry.'),
  }),
  endpoint: section({
    otlp: section({
      url: httpUrl()
        .default('https://ga-otlp.lumigo-tracer-edge.golumigo.com')
        .describe('OTLP/HTTP endpoint for telemetry.'),
      logs_url: otherEndpoint('logs, Kubernetes events and objects'),
      metrics_url: otherEndpoint('metrics'),
    }),
  }),
  telemetry: section({
    expectedWithinSeconds: wholeNumber(10, 7 * 86_400)
      .default(3_600)
      .describe(
        'How long the operator waits for the first telemetry of a workload after its pods run with the injection. Then the condition ' +
          '`TelemetryReceived` names the workload.',
      ),
    findPodsBehindNat: flag()
      .default(false)
      .describe(
        'Finds any pod by the `k8s.pod.uid` that its tracer sends, not only pods on the network of their node. Set it if the telemetry ' +
          'proxy sees other addresses than those of the pods (NAT). Each replica needs about 26 KB of memory more for each pod of the cluster.',
      ),
    namespaceLabels: z
      .array(labelKey(), { error: 'must be a list of keys of labels' })
      .max(32, 'must have at most 32 keys')
      .default([])
      .describe(
        'Keys of labels of a namespace that telemetry of its pods gets as attributes `k8s.namespace.label.KEY`, e.g. `[team]`. ' +
          'If there are any, the telemetry proxy may list namespaces.',
      ),
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
      .describe('How long a workload that cannot be changed may delay the deletion of its `Lumigo` resource.'),
  }),
  webhook,
  guard: oneOf('Deny', 'Audit', 'None')
    .default('Deny')
    .describe(
      "Policies in the API server that limit the writes of the operator's account to those that the operator makes. `Deny`: the API server " +
        'refuses others, also if an attacker has the token of the operator. `Audit`: it adds them to its audit log. `None`: there are no ' +
        'policies. See docs/security/README.md#the-guard.',
    ),
  certificates,
  lumigoToken,
  monitoredNamespaces,
  clusterCollection,
  logFileCollector,
  prometheusNodeExporter,
  kubeStateMetrics,
  updater,
  networkPolicy,
  metrics,
  debug: section({ enabled: flag().default(false).describe('Makes the operator log at debug level.') }),
  imagePrefix: imagePrefix()
    .default('')
    .describe(
      "A prefix for the name of every image, including the injector's and the telemetry proxy's. Set it to a private registry that has a " +
        'copy of each image under its full name, e.g. `registry.example.com/mirror/`.',
    ),
  imagePullSecrets: opaqueList()
    .default([])
    .describe("Pull secrets of the installation's pods, e.g. `[{name: registry}]`. They must exist in its namespace."),
  priorityClassName: orEmpty(dnsSubdomain(), 'must be the name of a PriorityClass, or empty').describe(
    "The PriorityClass of the operator's pods. Empty: the installation creates one, unless `priorityClass.create` is false.",
  ),
  priorityClass: section({
    create: flag()
      .default(true)
      .describe(
        'Creates a PriorityClass if `priorityClassName` is empty. If false and `priorityClassName` is empty, the pods have none.',
      ),
  }),
  hostNetwork: flag()
    .default(false)
    .describe(
      "Runs the operator's pods on the network of their nodes. Set it if the control plane reaches nodes but no pods, as on EKS with a " +
        'custom network plugin. Then `ports` are ports of the nodes, each replica needs its own node, and the namespace must admit privileged pods.',
    ),
  ports,
  podAnnotations: stringMap().default({}).describe("Annotations for the installation's pods."),
  podLabels: stringMap().default({}).describe("Labels for the installation's pods."),
  nodeSelector,
  tolerations,
  affinity: opaqueMap()
    .default(linuxNodes)
    .describe("Affinity of the operator's pods. Others need Linux on amd64 or arm64. Use `nodeSelector` for them."),
});

/** All settings of an installation, with defaults. */
export type Settings = z.output<typeof settingsSchema>;
