import { decide, type Decision } from '../injection/decide.ts';
import { isBlocked } from '../injection/decision.ts';
import { workloadPatch } from '../injection/patch.ts';
import type { Workload } from '../api/objects.ts';
import type { InjectorSettings } from '../injection/types.ts';
import type { LumigoStore } from '../lumigo/lumigo-store.ts';
import { allowed, otherForm, probeEcho, tooLarge, type AdmissionRequest, type Answer } from './review.ts';

interface InjectorContext {
  readonly injector: InjectorSettings;
  /** The operator's user. Its writes pass, because the reconciler has decided about them. */
  readonly ownUser: string;
  readonly lumigoes: Pick<LumigoStore, 'policy' | 'effective'>;
}

/** Returns the answer to a review. It always allows, because failurePolicy Ignore does not cover a refusal. */
export function reviewWorkload(request: AdmissionRequest, context: InjectorContext): Answer {
  const { object: workload, userInfo, dryRun, unread, operation } = request;
  if (userInfo?.username === context.ownUser) return probeEcho(request) ?? ownAnswer(request);
  if (operation === 'DELETE') return allowed('The request deletes the resource; resource will not be mutated');
  if (unread !== undefined) return tooLarge(unread);
  if (workload === undefined) return otherForm(context.lumigoes.policy(request.namespace ?? '').kind === 'active');
  const decision = decideAbout(workload, request, context);
  const answer = answerTo(decision, workload);
  return isOptOut(decision) && dryRun !== true ? { ...answer, notable: getName(workload) } : answer;
}

const ownAnswer = ({ object }: AdmissionRequest): Answer =>
  object === undefined ? otherForm(true) : allowed("The operator's own request; it will not be mutated");

function decideAbout(
  workload: Workload,
  { namespace = workload.metadata.namespace ?? '', operation, oldObject }: AdmissionRequest,
  { injector, lumigoes }: InjectorContext,
): Decision {
  return decide({
    workload,
    injector,
    now: new Date().toISOString(),
    by: 'webhook',
    ...(oldObject && { old: oldObject }),
    operation: operation === 'CREATE' ? 'CREATE' : 'UPDATE',
    policy: lumigoes.policy(namespace),
    report: lumigoes.effective(namespace)?.status?.injector,
  });
}

function answerTo(decision: Decision, workload: Workload): Answer {
  const isRefused = isBlocked(decision) || (decision.kind === 'remove' && decision.cause === 'refused');
  const problems = isRefused ? [decision.message] : [];
  const reasons = decision.kind === 'inject' ? decision.skipped : problems;
  const warnings = reasons.map((reason) => `Lumigo: ${reason}`);
  const answer = allowed(decision.message, warnings);
  return decision.kind === 'none' ? answer : { ...answer, patch: workloadPatch(workload, decision.workload) };
}

/** The log has each opt-out once, because the webhook gets no update of other fields. */
const isOptOut = ({ kind, code }: Decision): boolean => kind === 'remove' || code === 'opted-out';

const getName = ({ kind, metadata: { namespace = '', name, generateName = '' } }: Workload): string =>
  `${kind} ${namespace}/${name ?? generateName}`;
