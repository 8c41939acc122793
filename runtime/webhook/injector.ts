import { decide, type Decision } from '../injection/decide.ts';
import { isBlocked } from '../injection/decision.ts';
import { isMap } from '../injection/lists.ts';
import { workloadPatch } from '../injection/patch.ts';
import type { InjectorSettings, NamespacePolicy, Workload } from '../injection/types.ts';
import { allowed, probeEcho, type AdmissionRequest, type Answer } from './review.ts';
import { isWellFormed } from './well-formed.ts';

export interface InjectorContext {
  readonly injector: InjectorSettings;
  /** The operator's own user, whose writes are left as they are: the reconciler knows what it does. */
  readonly ownUser: string;
  readonly policy: (namespace: string) => NamespacePolicy;
  /** The time in ISO 8601, for the stamp that says when a workload was instrumented. */
  readonly now: () => string;
}

/**
 * Decides one review of a workload: a pure function of the review and of what the operator knows. It always allows,
 * because failurePolicy Ignore does not protect a user from a webhook that answers no.
 */
export function reviewWorkload(request: AdmissionRequest, context: InjectorContext): Answer {
  const { operation, object, oldObject, userInfo } = request;
  if (userInfo?.username === context.ownUser) return ownRequest(request);
  // As on every deletion.
  if (!object) return allowed('The request has no object; nothing will be mutated');
  const [workload, old] = [typed(object, request), typed(oldObject, request)];
  if (!isWellFormed(workload))
    return allowed('The object does not have the form that an API server sends; it will not be mutated');
  const decision = decide({
    workload,
    ...(isWellFormed(old) ? { old } : {}),
    operation: operation === 'CREATE' ? 'CREATE' : 'UPDATE',
    policy: context.policy(request.namespace ?? workload.metadata.namespace ?? ''),
    injector: context.injector,
    now: context.now(),
    by: 'webhook',
  });
  return withNote(answerTo(decision, workload), decision, request.dryRun === true ? '' : nameOf(workload));
}

const withNote = (answer: Answer, decision: Decision, notable: string): Answer =>
  isOptOut(decision) && notable !== '' ? { ...answer, notable } : answer;

const nameOf = ({ kind, metadata: { namespace = '', name, generateName = '' } }: Workload): string =>
  `${kind} ${namespace}/${name ?? generateName}`;

/** The API server sends each change once: an update that leaves pod template and label as they are never comes here. */
const isOptOut = ({ action, code }: Decision): boolean => action === 'remove' || code === 'opted-out';

const ownRequest = (request: AdmissionRequest): Answer =>
  probeEcho(request) ?? allowed("The operator's own request; it will not be mutated");

/** What a decision says to whoever asked. */
function answerTo(decision: Decision, workload: Workload): Answer {
  const { message } = decision;
  if (decision.action === 'none') return allowed(message, isBlocked(decision) ? [`Lumigo: ${message}`] : []);
  const leftAlone = decision.action === 'inject' ? decision.leftAlone : [];
  const warnings = leftAlone.map((reason) => `Lumigo: ${reason}`);
  return { ...allowed(message, warnings), patch: workloadPatch(workload, decision.workload) };
}

/** Objects inside a review carry their type on every server known; the request says it in any case. */
function typed(object: unknown, { kind: { group, version, kind } }: AdmissionRequest): unknown {
  if (!isMap(object) || (object['apiVersion'] && object['kind'])) return object;
  return { ...object, apiVersion: group === '' ? version : `${group}/${version}`, kind };
}
