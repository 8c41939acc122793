import { annotations } from '../contract.ts';
import { none, putRight, type Decision, type DecisionInput } from './decision.ts';
import { heldBack } from './hold-back.ts';
import { inject } from './inject.ts';
import { labelValue, optedOut, ourLabel } from './label.ts';
import { equal } from './lists.ts';
import { messages, type Code, type Outcome } from './messages.ts';
import { optInOf } from './opt-in.ts';
import { reasonOutOfReach } from './reach.ts';
import { isInjected } from './remove.ts';
import { stamp, stampOf } from './stamp.ts';
import { leaveAsItIs, stampedMetadata, standingTemplate } from './standing.ts';
import type { PodTemplate, TracingSettings, Workload } from './types.ts';
import { isTouched, uninstrument } from './uninstrument.ts';
import { templateOf, withTemplate } from './workload.ts';

export type { Decision, DecisionInput } from './decision.ts';

/** The one decision about a workload, for the webhook, the reconciler, `--preview` and `--explain` (docs/adr/0001). */
export function decide(input: DecisionInput): Decision {
  const { workload, operation, policy } = input;
  const template = templateOf(workload);
  const outOfReach = reasonOutOfReach(workload, operation, template);
  if (outOfReach !== undefined || template === undefined)
    return none(...(outOfReach ?? ['no-template', messages['no-template']()]));
  const isOptedOut = optedOut(workload.metadata) || optedOut(template.metadata);
  return isOptedOut && policy.state !== 'excluded'
    ? takeOut(input, 'opted-out', messages['opted-out']())
    : followPolicy(input, template);
}

function followPolicy(input: DecisionInput, template: PodTemplate): Decision {
  const { policy, workload } = input;
  const { namespace = '' } = workload.metadata;
  switch (policy.state) {
    case 'none':
      return withoutLumigo(input, template);
    case 'excluded':
      return none('excluded', messages.excluded(namespace));
    case 'disabled':
      return withdraw(input, policy.remove, ['disabled', messages.disabled(namespace)]);
    case 'inactive':
      return none('inactive', messages.inactive(namespace, policy.reason));
    case 'deleting':
      return withdraw(input, policy.remove, ['lumigo-deleting', messages['lumigo-deleting'](namespace)]);
    case 'active':
      return bringIn(input, template, policy.tracing, ['injected', messages.injected(namespace)]);
  }
}

/** No Lumigo: what opts in by itself is injected, and what a Lumigo that is gone has left behind goes. */
function withoutLumigo(input: DecisionInput, template: PodTemplate): Decision {
  const { metadata, kind } = input.workload;
  const { namespace = '' } = metadata;
  const alone = optIn(input, template);
  if (alone !== undefined) return alone;
  const found = input.operation === 'RECONCILE' ? stampOf(metadata) : undefined;
  // A Job was told of when its Lumigo went. Without a stamp it is the original operator's.
  if (found === undefined || found.keep === true || kind === 'Job')
    return none('no-lumigo', messages['no-lumigo'](namespace));
  return takeOut(input, 'left-behind', messages['left-behind'](namespace));
}

/**
 * The namespace's injections are to go, or to stay, as its Lumigo says; that is the reconciler's work, not the webhook's.
 * A workload that opted in by itself goes on by itself once the Lumigo is deleted.
 */
function withdraw(input: DecisionInput, remove: boolean, [code, message]: Outcome): Decision {
  if (input.operation !== 'RECONCILE') return none(code, message);
  if (!remove) return keep(input.workload) ?? none(code, message);
  const template = templateOf(input.workload);
  const alone = input.policy.state === 'deleting' && template !== undefined ? optIn(input, template) : undefined;
  return alone ?? takeOut(input, code, message);
}

/** Notes on an instrumented workload that it stays so when its Lumigo is gone; undefined where that is noted, or nothing is. */
function keep(workload: Workload): Decision | undefined {
  const { metadata } = workload;
  const [found, label] = [stampOf(metadata), ourLabel(metadata)];
  if (found === undefined || label === undefined || found.keep === true) return undefined;
  const kept = { ...workload, metadata: stamp(metadata, label, { ...found, keep: true }) };
  return putRight(kept, 'kept', messages.kept(metadata.namespace ?? ''));
}

/** A workload that asks for itself by its labels, where no Lumigo speaks for the namespace; undefined for one that does not. */
function optIn(input: DecisionInput, template: PodTemplate): Decision | undefined {
  const tracing = optInOf(input.workload.metadata);
  return tracing && bringIn(input, template, tracing, ['opted-in', messages['opted-in']()]);
}

function takeOut(input: DecisionInput, code: Code, message: string): Decision {
  const { workload } = input;
  if (!isTouched(workload)) return none(code, message);
  // The API server refuses it: an event says that the injection stays (the webhook sees a Job only as it is created).
  if (workload.kind === 'Job' && input.operation === 'RECONCILE')
    return !isInjectedWorkload(workload)
      ? none(code, message)
      : none('job-immutable-removal', messages['job-immutable-removal'](), { blocked: true });
  return {
    action: 'remove',
    workload: uninstrument(workload),
    code: 'removed',
    message: `${messages.removed()}: ${message}`,
  };
}

function bringIn(input: DecisionInput, template: PodTemplate, tracing: TracingSettings, outcome: Outcome): Decision {
  const injected = isInjected(template);
  if (input.operation === 'RECONCILE') {
    const held = heldBack(input, injected);
    if (held !== undefined) return held;
  }
  const settings = { ...input.injector, ...tracing };
  const standing = standingTemplate(input, template, tracing);
  if (standing !== undefined) return leaveAsItIs(input, standing, tracing);
  const result = inject(template, settings);
  if (result.refused !== undefined)
    return injected
      ? takeOut(input, 'refused', messages.refused(result.refused))
      : none('refused', messages.refused(result.refused), { blocked: true });
  const change = changeOf(input, injected, result.template);
  const changed = withTemplate(input.workload, result.template);
  const metadata = stampedMetadata(input, labelValue(settings.version), tracing, change);
  const [code, message] = outcome;
  return { action: 'inject', change, workload: { ...changed, metadata }, code, message, leftAlone: result.leftAlone };
}

const isInjectedWorkload = (workload: Workload | undefined): boolean => {
  const template = workload === undefined ? undefined : templateOf(workload);
  return template !== undefined && isInjected(template);
};

/** What there is to tell: nothing, where the injection stands in the old object word for word. */
function changeOf(
  { operation, old }: DecisionInput,
  injected: boolean,
  template: PodTemplate,
): 'added' | 'updated' | 'none' {
  if (isSameInjection(old, template)) return 'none';
  const isNew = operation === 'CREATE' || (!injected && !isInjectedWorkload(old));
  return isNew ? 'added' : 'updated';
}

/** Whether what this operator wrote stands in the old object as well, word for word. */
function isSameInjection(old: Workload | undefined, template: PodTemplate): boolean {
  const before = old === undefined ? undefined : templateOf(old);
  if (before === undefined || !isInjected(before)) return false;
  return (
    equal(
      before.metadata?.annotations?.[annotations.injection],
      template.metadata?.annotations?.[annotations.injection],
    ) && ourLabel(before.metadata) === ourLabel(template.metadata)
  );
}
