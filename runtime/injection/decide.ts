import { getOriginalState } from './original-state.ts';
import { getChoice } from './chosen-containers.ts';
import { blocked, changeFor, corrected, isBlocked, none, sentence } from './decision.ts';
import type { Code, Decision, DecisionInput } from './decision.ts';
import { inject } from './inject.ts';
import { labelValue, optedOut, ourLabel } from './label.ts';
import { decideRevert, findRetry, skippedAfterRevert, takeBack } from './decide-revert.ts';
import { ineligible, otherNodes, skippedByReconciler } from './eligibility.ts';
import { hasInjection, isInjected, isUnremovable, uninstrument } from './remove.ts';
import { findRevert } from './revert.ts';
import { isTooLarge, tooLarge } from './size.ts';
import { findOptIn, getInjectionStatus, removeInjectionStatus } from './injection-status.ts';
import { asItOptedIn, keep, keepInjection, metadataWithStatus, restored, standingTemplate } from './standing.ts';
import { withOwnText } from './standing.ts';
import { selects } from '../api/label-selector.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';
import { withOneSource } from './three-way-merge.ts';
import type { TracingSettings } from './types.ts';
import { whyInvalid } from './validity.ts';
import { replacesPods, toTemplate, withTemplate } from './workload.ts';

/** Returns the decision that webhook, reconciler, `preview` and `explain` share (docs/contributing/adr/0001). */
export const decide = (input: DecisionInput): Decision => decideRevert(input) ?? decideOtherwise(input);

function decideOtherwise(input: DecisionInput): Decision {
  const left = ineligible(input);
  const template = toTemplate(input.workload);
  if (template === undefined) return left ?? withoutTemplate(input);
  if (left !== undefined) return input.workload.kind === 'Job' ? restored(input, template, left) : left;
  const isUpdate = input.operation === 'UPDATE' && input.policy.kind !== 'excluded';
  return isUpdate ? decideUpdate(input, template) : decideEligible(input, template);
}

function withoutTemplate({ workload, policy }: DecisionInput): Decision {
  if (!isUnremovable(workload) || !('remove' in policy) || !policy.remove) return none('no-template', workload);
  return blocked(policy.kind === 'active' ? 'update' : 'remove', 'no-template', workload);
}

function decideUpdate(input: DecisionInput, template: PodTemplate): Decision {
  const workload = withOwnText(input);
  const decision = decideEligible({ ...input, workload }, template);
  if (decision.kind !== 'none' || isBlocked(decision)) return decision;
  if (isBroughtBack(input, template)) return takeBack(workload, decision);
  const fixed = withOneSource(workload, template);
  if (fixed === input.workload) return decision;
  return { ...decision, kind: 'inject', tried: 'nothing', workload: fixed, skipped: [] };
}

/** `kubectl rollout undo` restores an injected template, also if no `Lumigo` asks for it any more. */
const isBroughtBack = ({ old }: DecisionInput, template: PodTemplate): boolean =>
  old !== undefined && !hasInjection(old) && getOriginalState(template) !== undefined;

function decideEligible(given: DecisionInput, template: PodTemplate): Decision {
  const { workload, policy } = given;
  const input = { ...given, attempt: findRetry(given) ?? given.attempt ?? 0 };
  const isOptedOut = optedOut(workload.metadata) || optedOut(template.metadata);
  const never = isOptedOut ? 'opted-out' : otherNodes(template.spec);
  return never === undefined || policy.kind === 'excluded'
    ? followPolicy(input, template)
    : removeFrom(input, template, never);
}

function followPolicy(input: DecisionInput, template: PodTemplate): Decision {
  const { policy, workload } = input;
  switch (policy.kind) {
    case 'none':
      return withoutLumigo({ ...input, workload: asItOptedIn(workload) }, template);
    case 'excluded':
      return none('excluded', workload);
    case 'disabled':
      return whenTracingEnds(input, template, policy.remove, 'disabled');
    case 'inactive':
      return restored(input, template, none('inactive', workload, policy.reason));
    case 'deleting':
      return whenTracingEnds(input, template, policy.remove, 'lumigo-deleting');
    case 'pods':
      return whenTracingEnds(input, template, true, 'pod-mode');
    case 'active':
      return policy.selector === undefined || selects(policy.selector, removeInjectionStatus(workload.metadata).labels)
        ? injectInto(input, template, policy.tracing, 'injected')
        : removeFrom(input, template, 'not-selected');
  }
}

function withoutLumigo(input: DecisionInput, template: PodTemplate): Decision {
  const { workload, operation } = input;
  const alone = optIn(input, template);
  if (alone !== undefined) return alone;
  if (operation !== 'RECONCILE') return none('no-lumigo', workload);
  const found = getInjectionStatus(workload.metadata);
  // An event reported the Job's injection when its `Lumigo` was deleted.
  const stays = found === undefined || found.keep === true || workload.kind === 'Job';
  return stays ? forget(workload, none('no-lumigo', workload)) : removeFrom(input, template, 'left-behind');
}

/** Removes the record of a revert, for the decision's reason. */
function forget(workload: Workload, decision: Decision): Decision {
  if (findRevert(workload.metadata) === undefined) return decision;
  const metadata = removeInjectionStatus(workload.metadata);
  return corrected({ ...workload, metadata }, decision.code, decision.message);
}

function whenTracingEnds(input: DecisionInput, template: PodTemplate, remove: boolean, code: Code): Decision {
  const { workload, operation, policy } = input;
  if (operation !== 'RECONCILE') return none(code, workload);
  if (!remove) return keep(input) ?? forget(workload, none(code, workload));
  const alone = policy.kind === 'deleting' && !policy.isExcluded ? optIn(input, template) : undefined;
  return alone ?? removeFrom(input, template, code);
}

function optIn(input: DecisionInput, template: PodTemplate): Decision | undefined {
  const tracing = findOptIn(input.workload.metadata);
  return tracing && injectInto(input, template, tracing, 'opted-in');
}

function removeFrom(input: DecisionInput, template: PodTemplate, code: Code, detail?: string): Decision {
  const { workload, operation } = input;
  const { metadata, kind } = workload;
  const injected = isInjected(template);
  const untouched = none(code, workload, detail);
  if (!injected && getInjectionStatus(metadata) === undefined && ourLabel(metadata) === undefined)
    return forget(workload, untouched);
  if (isTooLarge(workload)) return blocked('remove', 'too-large', workload, tooLarge);
  // The API server refuses the change. The webhook sees a Job only at its creation, when the removal works.
  if (kind === 'Job' && operation === 'RECONCILE')
    return injected ? blocked('remove', 'job-immutable-removal', workload) : untouched;
  const message = `${sentence('removed', workload)}: ${untouched.message}`;
  return { kind: 'remove', tried: 'remove', workload: uninstrument(workload), code: 'removed', cause: code, message };
}

function injectInto(input: DecisionInput, template: PodTemplate, tracing: TracingSettings, code: Code): Decision {
  const { workload, old } = input;
  const injected = isInjected(template);
  const skip = input.operation === 'RECONCILE' ? skippedByReconciler(input, injected) : undefined;
  if (skip !== undefined) return skip;
  if (isTooLarge(workload) || isTooLarge(old)) return tooLargeToInject(workload, injected);
  const waiting = notYet(input, template, injected);
  if (waiting !== undefined) return waiting;
  const decision = write(input, template, tracing, code);
  if (typeof decision === 'string')
    return injected ? removeFrom(input, template, 'refused', decision) : blocked('add', 'refused', workload, decision);
  // An injected workload must stay small enough for the removal.
  const isGrown = decision.kind === 'inject' && isTooLarge(decision.workload);
  return isGrown ? tooLargeToInject(workload, injected) : decision;
}

function notYet(input: DecisionInput, template: PodTemplate, injected: boolean): Decision | undefined {
  const wasInjected = input.old === undefined ? injected : hasInjection(input.old);
  if (injected && wasInjected) return undefined;
  return (wasInjected ? undefined : blockedByReport(input)) ?? skippedAfterRevert(input, template);
}

function blockedByReport({ workload, policy, report }: DecisionInput): Decision | undefined {
  if (policy.kind !== 'active' || report === undefined) return undefined;
  if (report.health === 'failing') return none('injector-failing', workload, report.why);
  return replacesPods(workload) ? undefined : none('injector-unverified', workload);
}

const tooLargeToInject = (workload: Workload, injected: boolean): Decision =>
  blocked(injected ? 'update' : 'add', 'too-large', workload, tooLarge);

/** Returns the present injection or a new one, or a sentence if neither is possible. */
function write(input: DecisionInput, template: PodTemplate, tracing: TracingSettings, code: Code): Decision | string {
  const standing = standingTemplate(input, template, tracing);
  const decision = standing ? keepInjection(input, standing, tracing) : rewrite(input, template, tracing, code);
  const isWritten = typeof decision === 'object' && decision.kind === 'inject';
  return isWritten ? (whyInvalid(decision.workload) ?? decision) : decision;
}

function rewrite(input: DecisionInput, template: PodTemplate, tracing: TracingSettings, code: Code): Decision | string {
  const { workload } = input;
  const result = inject(template, { ...input.injector, ...tracing, choice: getChoice(workload.metadata) });
  if (result.refused !== undefined)
    return result.isUnwanted && !isInjected(template) ? none('refused', workload, result.refused) : result.refused;
  const tried = getChangeKind(input, isInjected(template), result.template);
  const news = { change: changeFor[tried], skipped: result.skipped.join('; ') || undefined };
  const metadata = metadataWithStatus(input, labelValue(input.injector.version), tracing, news);
  const changed = { ...withTemplate(workload, result.template), metadata };
  return { kind: 'inject', tried, workload: changed, code, message: sentence(code, workload), skipped: result.skipped };
}

function getChangeKind({ operation, old }: DecisionInput, injected: boolean, template: PodTemplate) {
  const before = old && toTemplate(old);
  const wasInjected = before === undefined ? injected : isInjected(before);
  if (before !== undefined && wasInjected && getInjection(before) === getInjection(template)) return 'nothing';
  return operation === 'CREATE' || !wasInjected ? 'add' : 'update';
}

/** The injector's container follows the pod, such as its resources. A change of it is no update of the injection. */
function getInjection(template: PodTemplate): string {
  const { injector: _follows, ...state } = getOriginalState(template) ?? {};
  return JSON.stringify([state, ourLabel(template.metadata)]);
}
