import { decide, type Decision } from '../injection/decide.ts';
import { workloadPatch } from '../injection/patch.ts';
import type { InjectorSettings, NamespacePolicy, Workload } from '../injection/types.ts';
import type { AdmissionRequest, Answer } from './review.ts';

export interface InjectorContext {
  readonly injector: InjectorSettings;
  /** The operator's own user, whose writes are left as they are: the reconciler knows what it does. */
  readonly ownUser: string;
  readonly policy: (namespace: string) => NamespacePolicy;
  readonly isExcluded: (namespace: string) => boolean;
  /** The time in ISO 8601, for the stamp that says when a workload was instrumented. */
  readonly now: () => string;
}

/**
 * Decides one review of a workload: a pure function of the review and of what the operator knows. It always allows,
 * because failurePolicy Ignore does not protect a user from a webhook that answers no.
 */
export function reviewWorkload(request: AdmissionRequest, context: InjectorContext): Answer {
  const { operation, object, oldObject } = request;
  const namespace = request.namespace ?? object?.metadata.namespace ?? '';
  const unasked = reasonNotToAsk(request, namespace, context);
  if (unasked !== undefined || !object)
    return untouched(unasked ?? 'The request holds no object; nothing will be mutated');
  const workload = typed(object, request);
  const decision = decide({
    workload,
    ...(oldObject ? { old: typed(oldObject, request) } : {}),
    operation: operation === 'CREATE' ? 'CREATE' : 'UPDATE',
    policy: context.policy(namespace),
    injector: context.injector,
    now: context.now(),
    by: 'webhook',
  });
  return answerTo(decision, workload);
}

function reasonNotToAsk(request: AdmissionRequest, namespace: string, context: InjectorContext): string | undefined {
  const { operation, userInfo } = request;
  if (context.isExcluded(namespace)) return `The '${namespace}' namespace is never instrumented`;
  if (userInfo?.username === context.ownUser) return "The operator's own request; it is complete";
  if (operation === 'CREATE' || operation === 'UPDATE') return undefined;
  return `Nothing is injected on ${operation}; resource will not be mutated`;
}

function answerTo(decision: Decision, workload: Workload): Answer {
  const { message } = decision;
  if (decision.action === 'none')
    return decision.blocked === true ? { ...untouched(message), warnings: [warning(message)] } : untouched(message);
  const patch = workloadPatch(workload, decision.workload);
  const leftAlone = decision.action === 'inject' ? decision.leftAlone : [];
  return { allowed: true, code: 200, message, patch, warnings: leftAlone.map(({ reason }) => warning(reason)) };
}

const untouched = (message: string): Answer => ({ allowed: true, code: 200, message });

const warning = (text: string): string => `Lumigo: ${text}`;

/** Objects inside a review carry their type on every server known; the request says it in any case. */
function typed(object: Workload, { kind: { group, version, kind } }: AdmissionRequest): Workload {
  if (object.apiVersion && object.kind) return object;
  return { ...object, apiVersion: group === '' ? version : `${group}/${version}`, kind };
}
