import type { z } from 'zod';
import { labels } from '../../runtime/contract.ts';
import type { Delivery } from '../constructs/runtime-environment.ts';
import { collectorImage } from './controller-manager.ts';
import { settingsSchema, type Settings } from './schema.ts';

type Given = Readonly<Record<string, unknown>>;

/** Namespaces that every cluster has and that others use too. */
const shared = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

const reservedLabels = ['name', 'instance', 'component', 'part-of', 'version']
  .map((key) => `app.kubernetes.io/${key}`)
  .concat(labels.autoTrace, 'control-plane');

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
  return rules.flatMap((rule) => rule(given));
}

/** What settings that are right in themselves cannot be in this delivery. */
export const contradictionsWith = (delivery: Delivery, { updater, lumigoToken }: Settings): readonly string[] => [
  ...(updater.mode === 'upgrade' && delivery !== 'Helm'
    ? [
        'updater.mode is "upgrade", but only Helm has a release to upgrade; set it to check or off, or install the Helm chart',
      ]
    : []),
  ...(lumigoToken.value !== '' && delivery === 'Manifests'
    ? [
        'lumigoToken.value is set, but plain YAML is not the place for it; leave it out and bring the Secrets another way, or install with Helm or Pulumi',
      ]
    : []),
];

const { shape } = settingsSchema;

function part<T extends z.ZodType>(schema: T, value: unknown): z.output<T> | undefined {
  return schema.safeParse(value).data;
}

function monitoredTwice({ monitoredNamespaces }: Given): string[] {
  const names = (part(shape.monitoredNamespaces, monitoredNamespaces) ?? []).map(({ namespace }) => namespace);
  return names.flatMap((name, index) =>
    name !== undefined && names.indexOf(name) < index
      ? [
          `monitoredNamespaces[${index}].namespace repeats "${name}"; one Lumigo acts per namespace, so leave one of them out`,
        ]
      : [],
  );
}

function monitoredByWhat({ monitoredNamespaces }: Given): string[] {
  return (part(shape.monitoredNamespaces, monitoredNamespaces) ?? []).flatMap(({ namespace, selector }, index) =>
    (namespace === undefined) === (selector === undefined)
      ? [`monitoredNamespaces[${index}] has to have either a namespace or a selector`]
      : [],
  );
}

function monitoredButExcluded({ monitoredNamespaces, webhook, namespace }: Given): string[] {
  const monitored = part(shape.monitoredNamespaces, monitoredNamespaces) ?? [];
  const excluded = part(shape.webhook, webhook)?.excludedNamespaces ?? [];
  const own = part(shape.namespace, namespace);
  return monitored.flatMap((entry, index) => {
    if (entry.namespace === undefined) return [];
    const where = `monitoredNamespaces[${index}].namespace is "${entry.namespace}"`;
    if (entry.namespace === own) return [`${where}, the operator's own namespace, which is never instrumented`];
    return excluded.includes(entry.namespace)
      ? [`${where}, which webhook.excludedNamespaces excludes; take it out of one of the two`]
      : [];
  });
}

function foreignNamespace({ namespace, createNamespace }: Given): string[] {
  return createNamespace === true && shared.includes(String(namespace))
    ? [
        `namespace is "${String(namespace)}", which is not the operator's alone; set createNamespace to false, or choose another`,
      ]
    : [];
}

function ownLabels({ podLabels }: Given): string[] {
  return Object.keys(part(shape.podLabels, podLabels) ?? {}).flatMap((key) =>
    reservedLabels.includes(key) ? [`podLabels sets ${key}, which the operator sets itself; leave it out`] : [],
  );
}

function sharedQueue({ controllerManager }: Given): string[] {
  const { replicas, telemetryProxy } = part(shape.controllerManager, controllerManager) ?? {};
  return replicas !== undefined && replicas > 1 && telemetryProxy?.queue.claimName !== ''
    ? [
        `controllerManager.telemetryProxy.queue.claimName needs controllerManager.replicas to be 1 (it is ${replicas}); two pods cannot keep one queue`,
      ]
    : [];
}

/** A tag that is changed while the digest stays would change nothing. */
function otherTag({ controllerManager }: Given): string[] {
  const { tag, digest } = part(shape.controllerManager, controllerManager)?.telemetryProxy.image ?? collectorImage;
  return tag !== collectorImage.tag && digest === collectorImage.digest
    ? [
        `controllerManager.telemetryProxy.image.tag is "${tag}", but the digest still pins ${collectorImage.tag}; set controllerManager.telemetryProxy.image.digest to that of the tag, or to ""`,
      ]
    : [];
}

/** Of the cluster's own authority is every node's certificate, and many a user's. */
function anyClient({ webhook }: Given): string[] {
  const { configMap = '', names = [] } = part(shape.webhook, webhook)?.clientCa ?? {};
  if (configMap === '' && names.length > 0)
    return [
      'webhook.clientCa.names is set, but webhook.clientCa.configMap is empty, so nobody is asked; set both, or none',
    ];
  return configMap === 'kube-root-ca.crt' && names.length === 0
    ? [
        "webhook.clientCa.configMap is the cluster's own authority, whose certificates many have; set webhook.clientCa.names to that of the API server's",
      ]
    : [];
}

/** At which the kubelet of every node listens. */
const KUBELET_PORT = 10_250;

function takenPort({ ports, hostNetwork }: Given): string[] {
  const given = Object.entries(part(shape.ports, ports) ?? {});
  return given.flatMap(([name, port], index) => {
    const [other] = given.slice(0, index).find((each) => each[1] === port) ?? [];
    if (other !== undefined)
      return [`ports.${name} is ${port}, and so is ports.${other}; one of them has to be another`];
    return port === KUBELET_PORT && hostNetwork === true
      ? [`ports.${name} is ${port}, but with hostNetwork it is the node's, where the kubelet has it; choose another`]
      : [];
  });
}

function idleIssuer({ certificates }: Given): string[] {
  const { issuer, issuerRef = {} } = part(shape.certificates, certificates) ?? {};
  return issuer !== undefined && issuer !== 'cert-manager' && Object.keys(issuerRef).length > 0
    ? [
        'certificates.issuerRef is set, but certificates.issuer is not "cert-manager", so nobody uses it; set both, or none',
      ]
    : [];
}
