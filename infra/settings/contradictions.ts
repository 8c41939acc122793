import type { z } from 'zod';
import { labels } from '../../runtime/contract.ts';
import type { Delivery } from '../constructs/runtime-environment.ts';
import { collectorImage } from './controller-manager.ts';
import { settingsSchema, type Settings } from './schema.ts';

type Given = Readonly<Record<string, unknown>>;

/** Namespaces that every cluster has and that others use too. */
const shared = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

export const reservedLabels = ['name', 'instance', 'component', 'part-of', 'version']
  .map((key) => `app.kubernetes.io/${key}`)
  .concat(labels.autoTrace, 'control-plane');

/**
 * What is said of each. The chart, which Helm renders without this program, says the same: there the arguments are verbs of Go's
 * `printf` (helm/refusals.ts).
 */
export const sentences = {
  monitoredTwice: (index: Said, name: Said) =>
    `monitoredNamespaces[${index}].namespace repeats "${name}"; one Lumigo acts per namespace, so leave one of them out`,
  monitoredByWhat: (index: Said) => `monitoredNamespaces[${index}] has to have either a namespace or a selector`,
  monitoredOwn: (index: Said, name: Said) =>
    `monitoredNamespaces[${index}].namespace is "${name}", the operator's own namespace, which is never instrumented`,
  monitoredButExcluded: (index: Said, name: Said) =>
    `monitoredNamespaces[${index}].namespace is "${name}", which webhook.excludedNamespaces excludes; take it out of one of the two`,
  ownLabels: (key: Said) => `podLabels sets ${key}, which the operator sets itself; leave it out`,
  sharedQueue: (replicas: Said) =>
    `controllerManager.telemetryProxy.queue.claimName needs controllerManager.replicas to be 1 (it is ${replicas}); two pods cannot keep one queue`,
  otherTag: (tag: Said) =>
    `controllerManager.telemetryProxy.image.tag is "${tag}", but the digest still pins ${collectorImage.tag}; set controllerManager.telemetryProxy.image.digest to that of the tag, or to ""`,
  nobodyAsked: () =>
    'webhook.clientCa.names is set, but webhook.clientCa.configMap is empty, so nobody is asked; set both, or none',
  anyClient: () =>
    "webhook.clientCa.configMap is the cluster's own authority, whose certificates many have; set webhook.clientCa.names to that of the API server's",
  takenPort: (name: Said, port: Said, other: Said) =>
    `ports.${name} is ${port}, and so is ports.${other}; one of them has to be another`,
  kubeletPort: (name: Said, port: Said) =>
    `ports.${name} is ${port}, but with hostNetwork it is the node's, where the kubelet has it; choose another`,
  idleIssuer: () =>
    'certificates.issuerRef is set, but certificates.issuer is not "cert-manager", so nobody uses it; set both, or none',
} as const;

type Said = string | number;

/**
 * What cannot be together although each is right by itself. A rule looks only at parts that are right, so that its
 * problems join those of the schema in one message.
 */
export function contradictionsIn(given: Given): readonly string[] {
  const rules = [
    monitoredTwice,
    monitoredByWhat,
    monitoredButExcluded,
    foreignNamespace,
    ownLabels,
    sharedQueue,
    otherTag,
    anyClient,
    takenPort,
    idleIssuer,
  ];
  return rules.flatMap((rule) => [...rule(given)]);
}

/** What settings that are right in themselves cannot be in this delivery. */
export function* contradictionsWith(delivery: Delivery, { updater, lumigoToken }: Settings): Iterable<string> {
  if (updater.mode === 'upgrade' && delivery !== 'Helm')
    yield 'updater.mode is "upgrade", but only Helm has a release to upgrade; set it to check or off, or install the Helm chart';
  if (lumigoToken.value !== '' && delivery === 'Manifests')
    yield 'lumigoToken.value is set, but plain YAML is not the place for it; leave it out and bring the Secrets another way, or install with Helm or Pulumi';
}

const { shape } = settingsSchema;

function part<T extends z.ZodType>(schema: T, value: unknown): z.output<T> | undefined {
  return schema.safeParse(value).data;
}

function* monitoredTwice({ monitoredNamespaces }: Given) {
  const names = (part(shape.monitoredNamespaces, monitoredNamespaces) ?? []).map(({ namespace }) => namespace);
  for (const [index, name] of names.entries())
    if (name !== undefined && names.indexOf(name) < index) yield sentences.monitoredTwice(index, name);
}

function* monitoredByWhat({ monitoredNamespaces }: Given) {
  const monitored = part(shape.monitoredNamespaces, monitoredNamespaces) ?? [];
  for (const [index, { namespace, selector }] of monitored.entries())
    if ((namespace === undefined) === (selector === undefined)) yield sentences.monitoredByWhat(index);
}

function* monitoredButExcluded({ monitoredNamespaces, webhook, namespace: own }: Given) {
  const monitored = part(shape.monitoredNamespaces, monitoredNamespaces) ?? [];
  const excluded = part(shape.webhook, webhook)?.excludedNamespaces ?? [];
  for (const [index, { namespace }] of monitored.entries()) {
    if (namespace === undefined) continue;
    if (namespace === part(shape.namespace, own)) yield sentences.monitoredOwn(index, namespace);
    else if (excluded.includes(namespace)) yield sentences.monitoredButExcluded(index, namespace);
  }
}

function* foreignNamespace({ namespace, createNamespace }: Given) {
  if (createNamespace === true && shared.includes(String(namespace)))
    yield `namespace is "${String(namespace)}", which is not the operator's alone; set createNamespace to false, or choose another`;
}

function* ownLabels({ podLabels }: Given) {
  for (const key of Object.keys(part(shape.podLabels, podLabels) ?? {}))
    if (reservedLabels.includes(key)) yield sentences.ownLabels(key);
}

function* sharedQueue({ controllerManager }: Given) {
  const { replicas, telemetryProxy } = part(shape.controllerManager, controllerManager) ?? {};
  if (replicas !== undefined && replicas > 1 && telemetryProxy?.queue.claimName !== '')
    yield sentences.sharedQueue(replicas);
}

/** A tag that is changed while the digest stays would change nothing. */
function* otherTag({ controllerManager }: Given) {
  const { tag, digest } = part(shape.controllerManager, controllerManager)?.telemetryProxy.image ?? collectorImage;
  if (tag !== collectorImage.tag && digest === collectorImage.digest) yield sentences.otherTag(tag);
}

/** The ConfigMap that every namespace has. */
export const clusterAuthority = 'kube-root-ca.crt';

/** Of the cluster's own authority is every node's certificate, and many a user's. */
function* anyClient({ webhook }: Given) {
  const { configMap = '', names = [] } = part(shape.webhook, webhook)?.clientCa ?? {};
  if (configMap === '' && names.length > 0) yield sentences.nobodyAsked();
  if (configMap === clusterAuthority && names.length === 0) yield sentences.anyClient();
}

/** At which the kubelet of every node listens. */
export const KUBELET_PORT = 10_250;

function* takenPort({ ports, hostNetwork }: Given) {
  const given = Object.entries(part(shape.ports, ports) ?? {});
  for (const [index, [name, port]] of given.entries()) {
    const [other] = given.slice(0, index).find((each) => each[1] === port) ?? [];
    if (other !== undefined) yield sentences.takenPort(name, port, other);
    else if (port === KUBELET_PORT && hostNetwork === true) yield sentences.kubeletPort(name, port);
  }
}

function* idleIssuer({ certificates }: Given) {
  const { issuer, issuerRef = {} } = part(shape.certificates, certificates) ?? {};
  if (issuer !== undefined && issuer !== 'cert-manager' && Object.keys(issuerRef).length > 0)
    yield sentences.idleIssuer();
}
