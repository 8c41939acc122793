import { annotations, environment, injector, labels } from '../contract.ts';
import type { Container, Metadata, PodSpec, Workload } from '../api/objects.ts';
import { toTemplate } from '../injection/workload.ts';
import { orUndefined } from '../json/values.ts';
import { withoutTokens } from '../wording/token.ts';

/** The values of other labels and annotations may be secrets of users. */
const OURS = /^(lumigo[./]|operator\.lumigo\.io\/|app\.kubernetes\.io\/)/;
const onlyOurs = (found: Readonly<Record<string, string>> = {}) =>
  Object.fromEntries(
    Object.entries(found)
      .filter(([key]) => OURS.test(key))
      .map(([key, text]) => [key, key === annotations.injection ? redactOriginalState(text) : text]),
  );

/** Hides the values of variables, which users wrote, in an original state or a `Lumigo` resource. */
const hideValues = (json: unknown): string =>
  JSON.stringify(json, (key, value: unknown) => (key === 'value' ? '…' : value));

const redactOriginalState = (text: string): string => orUndefined(() => hideValues(JSON.parse(text))) ?? '…';

const SHOWN_METADATA = /^(name|namespace|uid|generation|resourceVersion|creationTimestamp|deletionTimestamp)$/;
const toMetadata = (metadata: Metadata) => ({
  ...Object.fromEntries(Object.entries(metadata).filter(([key]) => SHOWN_METADATA.test(key))),
  labels: onlyOurs(metadata.labels),
  annotations: onlyOurs(metadata.annotations),
  ownerReferences: metadata.ownerReferences?.map(({ kind, name }) => `${kind}/${name}`),
});

/** The operator writes the values of these variables. */
const others = ['LUMIGO_LOGS_ENDPOINT', 'LUMIGO_ENABLE_TRACES', 'LUMIGO_ENABLE_LOGS'];
const SHOWN = new Set<string>([environment.preload, environment.endpoint, ...others]);

/** Leaves out each command, argument and value that a user wrote. */
const toContainer = ({ name, image, env = [], volumeMounts = [] }: Container) => ({
  name,
  image,
  env: env.map((each) =>
    SHOWN.has(each.name) && each.valueFrom === undefined ? `${each.name}=${each.value ?? ''}` : each.name,
  ),
  volumeMounts: volumeMounts.filter((each) => each.name === injector.volume),
});

const getSpec = ({ containers, initContainers = [], volumes = [] }: PodSpec) => ({
  initContainers: initContainers.map(toContainer),
  containers: containers.map(toContainer),
  volumes: volumes.filter(({ name }) => name === injector.volume),
});

/** Uses an allow list, because the rest belongs to users. */
export function redactWorkload(workload: Workload): object {
  const template = toTemplate(workload);
  return {
    apiVersion: workload.apiVersion,
    kind: workload.kind,
    metadata: toMetadata(workload.metadata),
    optIn: workload.metadata.labels?.[labels.autoTrace],
    template: template && { metadata: toMetadata({ ...template.metadata }), spec: getSpec(template.spec) },
    status: withoutOutput(workload['status']),
  };
}

type Replace = (key: string, value: unknown) => unknown;
const replaceIn = (json: unknown, replace: Replace): unknown => JSON.parse(JSON.stringify(json, replace));

/** A kubelet may keep the end of a program's log in its status. */
const withoutOutput = (status: unknown = {}): unknown =>
  replaceIn(status, (key, value) => (key === 'terminated' ? { ...(value as object), message: undefined } : value));

const DROPPED = new Set(['managedFields', 'caBundle']);
/** An installer or a webhook may add others, for example those of a proxy with a password. */
const OWN_VARIABLE = /^(LUMIGO_|MEMORY_LIMIT_MIB$|GOMEMLIMIT$)/;

/** Redacts an object of the operator. */
export const redactOwn = (object: object): unknown =>
  replaceIn(object, (key, value) => {
    if (DROPPED.has(key)) return undefined;
    if (key === 'annotations') return onlyOurs(value as Readonly<Record<string, string>>);
    const { name, value: text } = (value ?? {}) as { readonly name?: unknown; readonly value?: unknown };
    const isForeign = typeof name === 'string' && text !== undefined && !OWN_VARIABLE.test(name);
    return isForeign ? { ...(value as object), value: '…' } : value;
  });

export const redactLumigo = (lumigo: object): unknown => redactOwn(JSON.parse(hideValues(lumigo)) as object);

/**
 * Hides tokens, also in base64, passwords in addresses, and what programs printed, which evidence quotes at its end.
 * A line of the log continues after the sentence.
 */
export const hideSecrets = (bundle: object): unknown =>
  replaceIn(bundle, (_key, value) => {
    if (typeof value !== 'string') return value;
    const quoted = value.startsWith('{') ? /(last output: )(?:[^"\\]|\\.)*/g : /(last output: ).*/gs;
    return withoutTokens(value)
      .replaceAll(quoted, '$1…')
      .replaceAll(/dF[89][A-Za-z0-9+/]{28}[A-Za-z0-9+/=]/g, 't_…')
      .replaceAll(/(:\/\/)[^\s/@"'?]+@/g, '$1…@');
  });
