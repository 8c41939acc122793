import type { z } from 'zod';
import { labels, podModeKubernetes } from '../../runtime/contract.ts';
import type { Delivery } from '../constructs/runtime-environment.ts';
import { collectorImage } from './controller-manager.ts';
import { stringMap } from './leaves.ts';
import { at } from './original-values.ts';
import { settingsSchema, type Settings } from './schema.ts';

type Given = Readonly<Record<string, unknown>>;

/** Namespaces that every cluster has and that others use too. */
const shared = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

const ofEachObject = ['name', 'instance', 'component', 'part-of', 'version'].map((key) => `app.kubernetes.io/${key}`);

/** The settings that add labels, with the keys that the operator sets there. */
export const reservedLabels: Readonly<Record<string, readonly string[]>> = {
  podLabels: [...ofEachObject, labels.autoTrace, 'control-plane'],
  'metrics.serviceMonitor.labels': ofEachObject,
  'metrics.prometheusRule.labels': ofEachObject,
  'metrics.silentWorkloadsRule.labels': ofEachObject,
  'metrics.dashboard.labels': ofEachObject,
};

/** The chart has the same refusals, with verbs of Go's `printf` as arguments (helm/refusals.ts). */
export const sentences = {
  monitoredTwice: (index: Message, name: Message) =>
    `monitoredNamespaces[${index}].namespace repeats "${name}". A namespace has one Lumigo, so remove one of the two entries`,
  monitoredByWhat: (index: Message) => `monitoredNamespaces[${index}] must have either a namespace or a selector`,
  monitoredOwn: (index: Message, name: Message) =>
    `monitoredNamespaces[${index}].namespace is "${name}", the operator's own namespace, which is never instrumented. Remove the entry`,
  monitoredButExcluded: (index: Message, name: Message) =>
    `monitoredNamespaces[${index}].namespace is "${name}", which is excluded. Remove the entry, or the namespace from webhook.excludedNamespaces if it is there`,
  ownLabels: (path: Message, key: Message) => `${path} sets ${key}, which the operator sets itself. Remove it`,
  sharedQueue: (replicas: Message) =>
    `controllerManager.telemetryProxy.queue.claimName needs controllerManager.replicas to be 1, but it is ${replicas}. Pods cannot share a queue`,
  otherTag: (tag: Message) =>
    `controllerManager.telemetryProxy.image.tag is "${tag}", but the digest is still that of ${collectorImage.tag}. Set controllerManager.telemetryProxy.image.digest to the digest of the new tag, or to ""`,
  takenPort: (name: Message, other: Message, port: Message) =>
    `ports.${name} and ports.${other} are both ${port}. Use different ports`,
  kubeletPort: (name: Message, port: Message) =>
    `ports.${name} is ${port}, which the kubelet uses on every node. Choose another port, because hostNetwork is true`,
  idleIssuer: () =>
    'certificates.issuerRef is set, but certificates.issuer is not "cert-manager", so it has no effect. Set both, or neither',
} as const;

export const needsKubernetes = (version: Message): string =>
  `injection.podMode is true, but Pod mode needs Kubernetes 1.${podModeKubernetes} or newer, and the cluster has ${version}. Set it to false, or upgrade the cluster`;

type Message = string | number;

/** Returns a refusal for each combination of settings that cannot work. A rule skips invalid settings, so one message has all problems. */
export function crossFieldProblems(given: Given): readonly string[] {
  const rules = [
    monitoredTwice,
    monitoredByWhat,
    monitoredButExcluded,
    foreignNamespace,
    ownLabels,
    sharedQueue,
    otherTag,
    takenPort,
    idleIssuer,
  ];
  return rules.flatMap((rule) => [...rule(given)]);
}

/** Returns a refusal for each setting that this delivery cannot carry out. */
export function* deliveryProblems(delivery: Delivery, { updater, lumigoToken }: Settings): Iterable<string> {
  if (updater.mode === 'upgrade' && delivery !== 'Helm')
    yield 'updater.mode is "upgrade", but only a Helm release can be upgraded. Set it to check or off, or install with Helm';
  if (lumigoToken.value !== '' && (delivery === 'Manifests' || delivery === 'OLM'))
    yield 'lumigoToken.value is set, but plain YAML must not contain a token. Remove it and create the Secrets in another way, or install with Helm or Pulumi';
}

const { shape } = settingsSchema;

function part<T extends z.ZodType>(schema: T, value: unknown): z.output<T> | undefined {
  return schema.safeParse(value).data;
}

const getMonitored = ({ monitoredNamespaces }: Given) => part(shape.monitoredNamespaces, monitoredNamespaces) ?? [];

function* monitoredTwice(given: Given) {
  const names = getMonitored(given).map(({ namespace }) => namespace);
  for (const [index, name] of names.entries())
    if (name !== undefined && names.indexOf(name) < index) yield sentences.monitoredTwice(index, name);
}

function* monitoredByWhat(given: Given) {
  for (const [index, { namespace, selector }] of getMonitored(given).entries())
    if ((namespace === undefined) === (selector === undefined)) yield sentences.monitoredByWhat(index);
}

function* monitoredButExcluded(given: Given) {
  const excluded = part(shape.webhook, given['webhook'])?.excludedNamespaces ?? [];
  for (const [index, { namespace }] of getMonitored(given).entries()) {
    if (namespace === undefined) continue;
    if (namespace === part(shape.namespace, given['namespace'])) yield sentences.monitoredOwn(index, namespace);
    else if (excluded.includes(namespace)) yield sentences.monitoredButExcluded(index, namespace);
  }
}

function* foreignNamespace({ namespace, createNamespace }: Given) {
  if (createNamespace === true && shared.includes(String(namespace)))
    yield `namespace is "${String(namespace)}", which other programs use too. Set createNamespace to false, or choose another namespace`;
}

function* ownLabels(given: Given) {
  for (const [path, reserved] of Object.entries(reservedLabels))
    for (const key of Object.keys(part(stringMap(), at(given, path)) ?? {}))
      if (reserved.includes(key)) yield sentences.ownLabels(path, key);
}

function* sharedQueue({ controllerManager }: Given) {
  const { replicas, telemetryProxy } = part(shape.controllerManager, controllerManager) ?? {};
  if (replicas !== undefined && replicas > 1 && telemetryProxy?.queue.claimName !== '')
    yield sentences.sharedQueue(replicas);
}

/** The digest overrides the tag, so a new tag alone has no effect. */
function* otherTag({ controllerManager }: Given) {
  const { tag, digest } = part(shape.controllerManager, controllerManager)?.telemetryProxy.image ?? collectorImage;
  if (tag !== collectorImage.tag && digest === collectorImage.digest) yield sentences.otherTag(tag);
}

export const KUBELET_PORT = 10_250;

function* takenPort({ ports, hostNetwork }: Given) {
  const given = Object.entries(part(shape.ports, ports) ?? {});
  for (const [index, [name, port]] of given.entries()) {
    const [other] = given.slice(0, index).find((each) => each[1] === port) ?? [];
    if (other !== undefined) yield sentences.takenPort(name, other, port);
    else if (port === KUBELET_PORT && hostNetwork === true) yield sentences.kubeletPort(name, port);
  }
}

function* idleIssuer({ certificates }: Given) {
  const { issuer, issuerRef = {} } = part(shape.certificates, certificates) ?? {};
  if (issuer !== undefined && issuer !== 'cert-manager' && Object.keys(issuerRef).length > 0)
    yield sentences.idleIssuer();
}
