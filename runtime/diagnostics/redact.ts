import { environment, injector, labels } from '../contract.ts';
import type { Container, Metadata, PodSpec, Workload } from '../api/objects.ts';
import { templateOf } from '../injection/workload.ts';
import { withoutTokens } from '../wording/token.ts';

/** Names of our own labels and annotations. The values of others may be secrets of their users. */
const OURS = /^(lumigo[./]|operator\.lumigo\.io\/|app\.kubernetes\.io\/)/;
const onlyOurs = (found: Readonly<Record<string, string>> = {}) =>
  Object.fromEntries(Object.entries(found).filter(([key]) => OURS.test(key)));

/** The metadata of a user's object that support needs. */
const metadataOf = ({ name, namespace, uid, generation, resourceVersion, ...metadata }: Metadata) => ({
  ...{ name, namespace, uid, generation, resourceVersion },
  ...{ creationTimestamp: metadata.creationTimestamp, deletionTimestamp: metadata.deletionTimestamp },
  ...{ labels: onlyOurs(metadata.labels), annotations: onlyOurs(metadata.annotations) },
  ownerReferences: metadata.ownerReferences?.map(({ kind, name: owner }) => `${kind}/${owner}`),
});

/** Variables whose values the operator writes. */
const SHOWN = new Set<string>([
  environment.preload,
  environment.endpoint,
  'LUMIGO_LOGS_ENDPOINT',
  'LUMIGO_ENABLE_TRACES',
  'LUMIGO_ENABLE_LOGS',
]);

/** Names and images, and no command, argument or value that a user wrote. */
const containerOf = ({ name, image, env = [], volumeMounts = [] }: Container) => ({
  ...{ name, image },
  env: env.map((each) =>
    SHOWN.has(each.name) && each.valueFrom === undefined ? `${each.name}=${each.value ?? ''}` : each.name,
  ),
  volumeMounts: volumeMounts.filter((each) => each.name === injector.volume),
});

const specOf = ({ containers, initContainers = [], volumes = [] }: PodSpec) => ({
  initContainers: initContainers.map(containerOf),
  containers: containers.map(containerOf),
  volumes: volumes.filter(({ name }) => name === injector.volume),
});

/** Returns the parts of a workload or a pod that say how it is instrumented: an allow list, because the rest is its user's. */
export function redactWorkload(workload: Workload): object {
  const template = templateOf(workload);
  return {
    ...{ apiVersion: workload.apiVersion, kind: workload.kind, metadata: metadataOf(workload.metadata) },
    optIn: workload.metadata.labels?.[labels.autoTrace],
    ...(template === undefined
      ? {}
      : { template: { metadata: metadataOf({ ...template.metadata }), spec: specOf(template.spec) } }),
    status: workload['status'],
  };
}

const DROPPED = new Set(['managedFields', 'kubectl.kubernetes.io/last-applied-configuration', 'caBundle']);

/** Returns one of the operator's own objects without what is long and says nothing. */
export function redactOwn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redactOwn);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => !DROPPED.has(key));
  return Object.fromEntries(entries.map(([key, each]) => [key, redactOwn(each)]));
}

/** Returns a text without tokens, in the form in which Secrets have them either. */
export const scrub = (text: string): string => withoutTokens(text).replaceAll(/dF[89][A-Za-z0-9+/]{28}=/g, 't_…');
