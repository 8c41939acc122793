import { decide } from '../injection/decide.ts';
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
  const namespace = request.namespace ?? request.object?.metadata.namespace ?? '';
  if (context.isExcluded(namespace)) return untouched(`The '${namespace}' namespace is never instrumented`);
  if (request.userInfo?.username === context.ownUser) return untouched("The operator's own request; it is complete");
  const { operation, object } = request;
  if (operation !== 'CREATE' && operation !== 'UPDATE')
    return untouched(`Nothing is injected on ${operation}; resource will not be mutated`);
  if (object === null || object === undefined) return untouched('The request holds no object; nothing will be mutated');
  const workload = typed(object, request);
  const decision = decide({
    workload,
    ...(request.oldObject ? { old: typed(request.oldObject, request) } : {}),
    operation,
    policy: context.policy(namespace),
    injector: context.injector,
    now: context.now(),
    by: 'webhook',
  });
  if (decision.action === 'none')
    return { ...untouched(decision.message), warnings: decision.blocked ? [warning(decision.message)] : [] };
  return {
    allowed: true,
    code: 200,
    message: decision.message,
    patch: workloadPatch(workload, decision.workload),
    warnings: decision.action === 'inject' ? decision.leftAlone.map(({ reason }) => warning(reason)) : [],
  };
}

const untouched = (message: string): Answer => ({ allowed: true, code: 200, message });

const warning = (text: string): string => `Lumigo: ${text}`;

/** Objects inside a review carry their type on every server known; the request says it in any case. */
function typed(object: Workload, { kind: { group, version, kind } }: AdmissionRequest): Workload {
  if (object.apiVersion && object.kind) return object;
  return { ...object, apiVersion: group === '' ? version : `${group}/${version}`, kind };
}
