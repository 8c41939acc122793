import { decide, type Decision } from '../injection/decide.ts';
import { isBlocked } from '../injection/decision.ts';
import { workloadPatch } from '../injection/patch.ts';
import type { InjectorReport } from '../api/lumigo.ts';
import type { Workload } from '../api/objects.ts';
import type { InjectorSettings, NamespacePolicy } from '../injection/types.ts';
import { allowed, otherForm, probeEcho, tooLarge, type AdmissionRequest, type Answer } from './review.ts';

export interface InjectorContext {
  readonly injector: InjectorSettings;
  /** The operator's user. Its writes pass, because the reconciler has decided about them. */
  readonly ownUser: string;
  readonly policy: (namespace: string) => NamespacePolicy;
  readonly report: (namespace: string) => InjectorReport | undefined;
  readonly now: () => string;
}

/** Returns the answer to a review. It always allows, because failurePolicy Ignore does not cover a refusal. */
export function reviewWorkload(request: AdmissionRequest, context: InjectorContext): Answer {
  const { object: workload, userInfo, dryRun, unread, operation } = request;
  if (userInfo?.username === context.ownUser) return probeEcho(request) ?? ownAnswer(request);
  if (operation === 'DELETE') return allowed('The request deletes the resource; resource will not be mutated');
  if (unread !== undefined) return tooLarge(unread);
  if (workload === undefined) return otherForm(context.policy(request.namespace ?? '').kind === 'active');
  const decision = decideAbout(workload, request, context);
  const answer = answerTo(decision, workload);
  return isOptOut(decision) && dryRun !== true ? { ...answer, notable: getName(workload) } : answer;
}

const ownAnswer = ({ object }: AdmissionRequest): Answer =>
  object === undefined ? otherForm(true) : allowed("The operator's own request; it will not be mutated");

function decideAbout(
  workload: Workload,
  { namespace = workload.metadata.namespace ?? '', operation, oldObject }: AdmissionRequest,
  { injector, policy, report, now }: InjectorContext,
): Decision {
  return decide({
    workload,
    injector,
    now: now(),
    by: 'webhook',
    ...(oldObject && { old: oldObject }),
    operation: operation === 'CREATE' ? 'CREATE' : 'UPDATE',
    policy: policy(namespace),
    report: report(namespace),
  });
}

function answerTo(decision: Decision, workload: Workload): Answer {
  const isRefused = isBlocked(decision) || (decision.kind === 'remove' && decision.cause === 'refused');
  const reasons = decision.kind === 'inject' ? decision.skipped : isRefused ? [decision.message] : [];
  const warnings = reasons.map((reason) => `Lumigo: ${reason}`);
  const answer = allowed(decision.message, warnings);
  return decision.kind === 'none' ? answer : { ...answer, patch: workloadPatch(workload, decision.workload) };
}

/** The log has each opt-out once, because the webhook gets no update of other fields. */
const isOptOut = ({ kind, code }: Decision): boolean => kind === 'remove' || code === 'opted-out';

const getName = ({ kind, metadata: { namespace = '', name, generateName = '' } }: Workload): string =>
  `${kind} ${namespace}/${name ?? generateName}`;
