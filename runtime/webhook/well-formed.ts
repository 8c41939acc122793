import { form, listOf, mapOf, number, text } from '../injection/form.ts';
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
