import { isMap } from '../injection/lists.ts';
import type { Workload } from '../injection/types.ts';
import { templateOf } from '../injection/workload.ts';

/**
 * Whether an object has the form that the API server gives to all that it sends, wherever the injection looks. Anybody else
 * may send a text of a megabyte as labels, which is a megabyte of members once it is copied like a map.
 */
export function isWellFormed(object: unknown): object is Workload {
  if (!isObject(object)) return false;
  const template: unknown = templateOf(object as Workload);
  // One without a template is left alone.
  return template === undefined || isTemplate(template);
}

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === 'string';
const number: Check = (value) => typeof value === 'number';
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const mapOf =
  (check: Check): Check =>
  (value) =>
    isMap(value) && Object.values(value).every(check);

/** A map that has the `required` fields, and may have those of `optional` and any others. */
function form(required: Readonly<Record<string, Check>>, optional: Readonly<Record<string, Check>> = {}): Check {
  const [must, may] = [Object.entries(required), Object.entries(optional)];
  return (value) =>
    isMap(value) &&
    must.every(([name, check]) => check(value[name])) &&
    may.every(([name, check]) => value[name] === undefined || check(value[name]));
}

const metadata = form(
  {},
  {
    name: text,
    generateName: text,
    namespace: text,
    labels: mapOf(text),
    annotations: mapOf(text),
    ownerReferences: listOf(form({ kind: text, name: text })),
  },
);
const isObject = form({ apiVersion: text, kind: text, metadata });

const reference = form({}, { name: text });
/** A definition that leaves them open, as Argo's does, has numbers where a user wrote some. */
const amounts = mapOf((value) => text(value) || number(value));
const container = form(
  { name: text },
  {
    env: listOf(form({ name: text }, { value: text })),
    envFrom: listOf(form({}, { prefix: text, configMapRef: reference, secretRef: reference })),
    volumeMounts: listOf(form({ name: text, mountPath: text })),
    resources: form({}, { limits: amounts, requests: amounts }),
    securityContext: form({}),
  },
);
const expression = form({ key: text, operator: text }, { values: listOf(text) });
const term = form({}, { matchExpressions: listOf(expression) });
const nodes = form({ nodeSelectorTerms: listOf(term) });

const pod = form(
  { containers: listOf(container) },
  {
    initContainers: listOf(container),
    volumes: listOf(form({ name: text })),
    imagePullSecrets: listOf(reference),
    securityContext: form({}, { runAsUser: number, fsGroup: number }),
    os: form({ name: text }),
    nodeSelector: mapOf(text),
    affinity: form({}, { nodeAffinity: form({}, { requiredDuringSchedulingIgnoredDuringExecution: nodes }) }),
  },
);
const isTemplate = form({ spec: pod }, { metadata });
