import { type Check, form, isShallow, listOf, mapOf, number, text } from '../json/form.ts';

/** The forms of the fields that the injection reads. An open definition such as Argo's lets others be stored. */
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
export const isObject = form({ apiVersion: text, kind: text, metadata });

const reference = form({}, { name: text });
/** An open definition such as Argo's permits numbers, and stores null. */
const isAmount: Check = (value) => value === null || text(value) || number(value);
const areAmounts = mapOf(isAmount);
const amounts: Check = (value) => value === null || areAmounts(value);
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
const isWellFormed = form({ spec: pod }, { metadata });
const known = new WeakMap<object, boolean>();

export function isPodTemplate(template: object): boolean {
  // A cache, because templates never change and one decision reads it many times.
  if (!known.has(template)) known.set(template, isWellFormed(template) && isShallow(template));
  return known.get(template) === true;
}
