import { z } from 'zod';
import { excludedNamespaces, optInDefaults, webhooks } from '../runtime/contract.ts';
import {
  dnsLabel,
  dnsSubdomain,
  flag,
  httpUrl,
  image,
  oneOf,
  opaqueList,
  opaqueMap,
  secretKey,
  stringMap,
  text,
  wholeNumber,
} from './settings-leaves.ts';
import { operatorVersion } from './version.ts';

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

const controllerManager = z.strictObject({
  replicas: wholeNumber(1, 20)
    .default(2)
    .describe('How many pods serve the webhook; one of them leads. With one, injection pauses while it restarts.'),
  manager: z
    .strictObject({
      image: image(
        { repository: 'public.ecr.aws/lumigo/lumigo-kubernetes-operator', tag: operatorVersion() },
        "the operator's image",
      ).prefault({}),
      resources: opaqueMap()
        .default({ requests: { cpu: '50m', memory: '128Mi' }, limits: { cpu: '1', memory: '256Mi' } })
        .describe('Requests and limits of the manager container.'),
    })
    .prefault({}),
  telemetryProxy: z
    .strictObject({
      image: image(
        { repository: 'otel/opentelemetry-collector-contrib', tag: '0.130.0' },
        "the telemetry proxy's image, an OpenTelemetry Collector",
      ).prefault({}),
      resources: opaqueMap()
        .default({ requests: { cpu: '50m', memory: '128Mi' }, limits: { cpu: '1', memory: '512Mi' } })
        .describe('Requests and limits of the telemetry proxy container.'),
    })
    .prefault({}),
});

const injection = z.strictObject({
  imagePullPolicy: oneOf('Always', 'IfNotPresent', 'Never')
    .default('IfNotPresent')
    .describe("When nodes pull the injector's image for instrumented pods."),
  imagePullSecrets: z
    .array(dnsSubdomain(), { error: 'must be a list of names' })
    .default([])
    .describe("Names of pull secrets that instrumented pods gain; each must exist in the workload's own namespace."),
  updateOnUpgrade: flag()
    .default(false)
    .describe(
      'Whether an upgrade of the operator renews the injection of running workloads, which restarts their pods. ' +
        'Otherwise a workload gets the new version when its pod template next changes.',
    ),
});

const changes = z.strictObject({
  concurrent: wholeNumber(1, 256).default(16).describe('How many workloads may be changing at once in all namespaces.'),
  concurrentPerNamespace: wholeNumber(1, 256)
    .default(16)
    .describe('How many workloads may be changing at once in one namespace.'),
  settleSeconds: wholeNumber(0, 3600)
    .default(0)
    .describe('How long a changed workload keeps its place among those, so that rollouts follow one another.'),
});

const webhook = z.strictObject({
  excludedNamespaces: z
    .array(dnsLabel(), { error: 'must be a list of namespaces' })
    .min(1, 'must name at least one namespace, such as kube-system')
    .default([...excludedNamespaces])
    .describe("Namespaces whose workloads are never instrumented; the operator's own is always one of them."),
  timeoutSeconds: wholeNumber(1, 30)
    .default(webhooks.timeoutSeconds)
    .describe('How long the API server waits for the webhook before it goes on without.'),
});

const monitoredNamespace = z.strictObject(
  {
    namespace: dnsLabel().describe('The namespace to trace; it must exist.'),
    secretName: dnsSubdomain()
      .default(optInDefaults.tokenSecret)
      .describe("The Secret in that namespace with Lumigo's token."),
    secretKey: secretKey().default(optInDefaults.tokenKey).describe('The key of the token in the Secret.'),
  },
  { error: (issue) => (issue.code === 'invalid_type' ? 'must be a map with the key namespace' : undefined) },
);

/**
 * Every setting of an installation, with its form, its default and its meaning. Names that the original operator's Helm
 * chart has are kept. From here come the values of the deliveries, their schema, the reference in docs/ and, through the
 * constructs, the environment of the runtime.
 *
 * Leaves are texts, whole numbers and flags; maps and lists of Kubernetes' own form pass as they are.
 */
export const settingsSchema = z.strictObject({
  name: dnsLabel(NAME_LENGTH)
    .default('lumigo-lumigo-operator')
    .describe('The name of the installation, with which the names of its objects begin.'),
  namespace: dnsLabel().default('lumigo-system').describe('The namespace of the operator.'),
  createNamespace: flag()
    .default(true)
    .describe(
      'Whether the manifests contain the namespace, which then admits pods of the `restricted` Pod Security Standard only.',
    ),
  platform: oneOf('kubernetes', 'openshift')
    .default('kubernetes')
    .describe('OpenShift assigns user ids itself; there the injection pins none.'),
  kubernetesClusterDomain: dnsSubdomain().default('cluster.local').describe("The cluster's DNS domain."),
  cluster: z
    .strictObject({ name: text().default('').describe('A name for this cluster, shown with its telemetry.') })
    .prefault({}),
  endpoint: z
    .strictObject({
      otlp: z
        .strictObject({
          url: httpUrl()
            .default('https://ga-otlp.lumigo-tracer-edge.golumigo.com')
            .describe('Where traces and logs go, by OTLP over HTTP.'),
        })
        .prefault({}),
    })
    .prefault({}),
  controllerManager: controllerManager.prefault({}),
  injectorWebhook: z
    .strictObject({
      lumigoInjector: z
        .strictObject({
          image: image(
            { repository: 'public.ecr.aws/lumigo/lumigo-autotrace', tag: 'latest' },
            "the injector's image, which carries Lumigo's tracers",
          ).prefault({}),
        })
        .prefault({}),
    })
    .prefault({}),
  injection: injection.prefault({}),
  changes: changes.prefault({}),
  removal: z
    .strictObject({
      deadlineSeconds: wholeNumber(1, 86_400)
        .default(120)
        .describe('How long a workload that cannot be updated may hold up the deletion of its Lumigo resource.'),
    })
    .prefault({}),
  webhook: webhook.prefault({}),
  monitoredNamespaces: z
    .array(monitoredNamespace, { error: 'must be a list' })
    .default([])
    .describe('Namespaces to trace: each gets a Lumigo resource that refers to a Secret there.'),
  debug: z
    .strictObject({ enabled: flag().default(false).describe('Whether the operator logs at debug level.') })
    .prefault({}),
  imagePullSecrets: opaqueList()
    .default([])
    .describe("Pull secrets of the operator's own pods, e.g. `[{name: registry}]`; they must exist in its namespace."),
  priorityClassName: z
    .union([z.literal(''), dnsSubdomain()], { error: 'must be the name of a PriorityClass, or empty' })
    .default('')
    .describe("The PriorityClass of the operator's pods; empty: one of its own."),
  podAnnotations: stringMap().default({}).describe("Annotations for the operator's pods."),
  podLabels: stringMap().default({}).describe("Labels for the operator's pods."),
  nodeSelector: stringMap().default({}).describe("Labels of the nodes that the operator's pods may run on."),
  tolerations: opaqueList().default([]).describe("Taints that the operator's pods tolerate."),
  affinity: opaqueMap().default(linuxNodes).describe("Affinity of the operator's pods."),
});

/** All settings of an installation, complete. */
export type Settings = z.output<typeof settingsSchema>;
