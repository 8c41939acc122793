import type { AuditEntry } from '../testing/audit.ts';

const verbs = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** Whether a request was one that stores something: no dry run, and not refused. */
export const isWrite = ({ verb, requestURI, stage, responseStatus }: AuditEntry): boolean =>
  verbs.has(verb) &&
  stage === 'ResponseComplete' &&
  !requestURI.includes('dryRun=All') &&
  (responseStatus?.code ?? 0) < 400;

/** `patch kustomizations/status flux-system/shop` */
export const writeName = ({ verb, objectRef = {} }: AuditEntry): string => {
  const { resource = '', subresource, namespace, name = '' } = objectRef;
  return `${verb} ${[resource, subresource].filter(Boolean).join('/')} ${[namespace, name].filter(Boolean).join('/')}`;
};

/** Whoever it is that asks: one of Flux's controllers, the operator, or somebody else. */
export function writerOf({ userAgent = '', user }: AuditEntry): 'flux' | 'operator' | undefined {
  if (/^(source|kustomize)-controller/.test(userAgent)) return 'flux';
  return user.username.startsWith('system:serviceaccount:lumigo-system:') ? 'operator' : undefined;
}
