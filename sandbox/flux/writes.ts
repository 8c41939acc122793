import type { AuditEntry } from '../testing/audit.ts';

const verbs = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

const isWrite = ({ verb, requestURI, stage, responseStatus }: AuditEntry): boolean =>
  verbs.has(verb) &&
  stage === 'ResponseComplete' &&
  !requestURI.includes('dryRun=All') &&
  (responseStatus?.code ?? 0) < 400;

const toName = ({ verb, objectRef = {} }: AuditEntry): string => {
  const { resource = '', subresource, namespace, name = '' } = objectRef;
  return `${verb} ${[resource, subresource].filter(Boolean).join('/')} ${[namespace, name].filter(Boolean).join('/')}`;
};

/** Returns the author of a request: one of Flux's controllers, the operator, or undefined for others. */
function findWriter({ userAgent = '', user }: AuditEntry): 'flux' | 'operator' | undefined {
  if (/^(source|kustomize)-controller/.test(userAgent)) return 'flux';
  return user.username.startsWith('system:serviceaccount:lumigo-system:') ? 'operator' : undefined;
}

/** Returns the writes of Flux and the operator, for example `flux: patch kustomizations/status flux-system/shop`. */
export const getWrites = (entries: readonly AuditEntry[]): readonly string[] =>
  entries.flatMap((entry) => {
    const writer = isWrite(entry) ? findWriter(entry) : undefined;
    return writer === undefined ? [] : [`${writer}: ${toName(entry)}`];
  });
