import { labels } from '../contract.ts';
import { decide } from '../injection/decide.ts';
import { isBlocked, type Decision } from '../injection/decision.ts';
import { workloadPatch } from '../injection/patch.ts';
import { findTemplate } from '../injection/workload.ts';
import { equal } from '../json/values.ts';
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
  const { object: workload, oldObject, userInfo, unread, operation, namespace = '' } = request;
  if (operation === 'DELETE') return allowed('The request deletes the resource; resource will not be mutated');
  if (unread !== undefined) return tooLarge(unread);
  const isOwn = userInfo?.username === context.ownUser;
  if (workload === undefined) return otherForm(isOwn || context.lumigoes.policy(namespace).kind === 'active');
  if (isOwn) return probeEcho(request) ?? allowed("The operator's own request; it will not be mutated");
  const decision = decideAbout(workload, request, context);
  return isUntouched(oldObject, workload) ? unchanged(decision) : answerTo(decision, workload, request.dryRun);
}

const UNCHANGED = `The update changes neither the pod template nor the label '${labels.autoTrace}'; resource will not be mutated`;
const unchanged = (decision: Decision): Answer =>
  allowed(decision.kind === 'none' && !isBlocked(decision) ? decision.message : UNCHANGED);
const getConcerned = (workload: Workload) => [findTemplate(workload), workload.metadata.labels?.[labels.autoTrace]];
const isUntouched = (old: Workload | undefined, workload: Workload): boolean =>
  old !== undefined && equal(getConcerned(old), getConcerned(workload));

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

function answerTo(decision: Decision, workload: Workload, isDryRun = false): Answer {
  const isRefused = isBlocked(decision) || (decision.kind === 'remove' && decision.cause === 'refused');
  const problems = isRefused ? [decision.message] : [];
  const reasons = decision.kind === 'inject' ? decision.skipped : problems;
  const warnings = reasons.map((reason) => `Lumigo: ${reason}`);
  const notable = isOptOut(decision) && !isDryRun ? getName(workload) : undefined;
  const answer = { ...allowed(decision.message, warnings), notable };
  return decision.kind === 'none' ? answer : { ...answer, patch: workloadPatch(workload, decision.workload) };
}

/** The log has each opt-out once for each call, which the API server repeats after another webhook's change. */
const isOptOut = ({ kind, code }: Decision): boolean => kind === 'remove' || code === 'opted-out';

const getName = ({ kind, metadata: { namespace = '', name, generateName = '' } }: Workload): string =>
  `${kind} ${namespace}/${name ?? generateName}`;
