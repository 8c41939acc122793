import { annotations, instrumentedPrefix, labels, optInDefaults } from '../contract.ts';
import { inject, labelValue, type LeftAlone } from './inject.ts';
import { injectedLabel, isCurrent, isIntact, recordedTracing } from './intact.ts';
import { equal } from './lists.ts';
import { messages, type Code, type Outcome } from './messages.ts';
import { reasonOutOfReach, type Operation } from './reach.ts';
import { isInjected } from './remove.ts';
import { labelOf, optedOut, parseStamp, stamp, type Stamp } from './stamp.ts';
import type { InjectorSettings, Metadata, NamespacePolicy, PodTemplate, TracingSettings, Workload } from './types.ts';
import { isTouched, uninstrument } from './uninstrument.ts';
import { templateOf, withTemplate } from './workload.ts';

export interface DecisionInput {
  /** The whole object, as it is or is about to be. */
  readonly workload: Workload;
  /** What an UPDATE changes, where that is known. */
  readonly old?: Workload;
  readonly operation: Operation;
  readonly policy: NamespacePolicy;
  readonly injector: InjectorSettings;
  /** ISO 8601, for the stamp. */
  readonly now: string;
  readonly by: 'webhook' | 'controller';
  /** Whether an injection of an older version is renewed although nothing else asks for it. */
  readonly renew?: boolean;
}

export type Decision =
  | {
      readonly action: 'inject';
      /** `none`: our labels were put right, and nothing that anybody need be told of has changed. */
      readonly change: 'added' | 'updated' | 'none';
      readonly workload: Workload;
      readonly code: Code;
      readonly message: string;
      readonly leftAlone: readonly LeftAlone[];
    }
  | { readonly action: 'remove'; readonly workload: Workload; readonly code: Code; readonly message: string }
  | {
      readonly action: 'none';
      readonly code: Code;
      readonly message: string;
      /** The workload should be changed and cannot be: somebody should be told. */
      readonly blocked?: boolean;
    };

/** The one decision about a workload, for the webhook, the reconciler, `--preview` and `--explain` (docs/adr/0001). */
export function decide(input: DecisionInput): Decision {
  const { workload, operation } = input;
  const template = templateOf(workload);
  const outOfReach = reasonOutOfReach(workload, operation, template);
  if (outOfReach !== undefined || template === undefined)
    return none(...(outOfReach ?? ['no-template', messages['no-template']()]));
  const isOptedOut = optedOut(workload.metadata) || optedOut(template.metadata);
  return isOptedOut ? takeOut(input, 'opted-out', messages['opted-out']()) : followPolicy(input, template);
}

function followPolicy(input: DecisionInput, template: PodTemplate): Decision {
  const { policy, workload } = input;
  const { namespace = '' } = workload.metadata;
  switch (policy.state) {
    case 'none':
      return optIn(input, template) ?? none('no-lumigo', messages['no-lumigo'](namespace));
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

/**
 * The namespace's injections are to go, if its Lumigo says so; that is the reconciler's work, not the webhook's. A
 * workload that opted in by itself goes on by itself once the Lumigo is deleted.
 */
function withdraw(input: DecisionInput, remove: boolean, [code, message]: Outcome): Decision {
  if (!remove || input.operation !== 'RECONCILE') return none(code, message);
  const template = templateOf(input.workload);
  const alone = input.policy.state === 'deleting' && template !== undefined ? optIn(input, template) : undefined;
  return alone ?? takeOut(input, code, message);
}

const none = (code: Code, message: string, blocked = false): Decision =>
  blocked ? { action: 'none', code, message, blocked } : { action: 'none', code, message };

/** A workload that asks for itself by its labels, where no Lumigo speaks for the namespace; undefined for one that does not. */
function optIn(input: DecisionInput, template: PodTemplate): Decision | undefined {
  const { metadata } = input.workload;
  if (labelOf(metadata)?.toLowerCase() !== 'true') return undefined;
  // An empty label says nothing.
  const value = (label: string, fallback: string) => metadata.labels?.[label] || fallback;
  const tracing = {
    secretName: value(labels.tokenSecret, optInDefaults.tokenSecret),
    secretKey: value(labels.tokenKey, optInDefaults.tokenKey),
    traces: value(labels.enableTraces, String(optInDefaults.traces)).toLowerCase() !== 'false',
    logs: value(labels.enableLogs, String(optInDefaults.logs)).toLowerCase() === 'true',
  };
  return bringIn(input, template, tracing, ['opted-in', messages['opted-in']()]);
}

function takeOut(input: DecisionInput, code: Code, message: string): Decision {
  const { workload } = input;
  if (!isTouched(workload)) return none(code, message);
  // The API server refuses it: an event says that the injection stays (the webhook sees a Job only as it is created).
  if (workload.kind === 'Job' && input.operation === 'RECONCILE')
    return !isInjectedWorkload(workload)
      ? none(code, message)
      : none('job-immutable-removal', messages['job-immutable-removal'](), true);
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
    const held = reasonToHoldBack(input, injected);
    if (held !== undefined) return held;
  }
  const settings = { ...input.injector, ...tracing };
  if (injected && staysAsItIs(input, template, tracing)) return relabel(input, template, tracing);
  const result = inject(template, settings);
  if (result.refused !== undefined)
    return injected
      ? takeOut(input, 'refused', messages.refused(result.refused))
      : none('refused', messages.refused(result.refused), true);
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

/** What the reconciler does not touch although the policy covers it: Jobs, and what is older than a Lumigo that says so. */
function reasonToHoldBack({ workload, policy }: DecisionInput, injected: boolean): Decision | undefined {
  if (workload.kind === 'Job') {
    if (injected) return none('up-to-date', messages['up-to-date']());
    if (isFinished(workload)) return none('job-finished', messages['job-finished']());
    if (isLeftExisting(workload, policy)) return none('existing-left', messages['existing-left']());
    return none('job-immutable', messages['job-immutable'](), true);
  }
  return !injected && isLeftExisting(workload, policy) ? none('existing-left', messages['existing-left']()) : undefined;
}

const isLeftExisting = ({ metadata }: Workload, policy: NamespacePolicy): boolean =>
  policy.state === 'active' &&
  !policy.injectExisting &&
  (metadata.creationTimestamp ?? '') <= policy.createdAt &&
  !isLabelledOurs(metadata);

const isLabelledOurs = ({ labels: own }: Metadata): boolean =>
  own?.[labels.autoTrace]?.startsWith(instrumentedPrefix) === true;

function isFinished(job: Workload): boolean {
  const { completionTime, conditions = [] } = (job['status'] ?? {}) as {
    completionTime?: string;
    conditions?: readonly { type: string; status: string }[];
  };
  const over = conditions.some(({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True');
  return completionTime !== undefined || over;
}

/**
 * No surprise rollouts: an injection that does what it should is left as it was written, whatever version wrote it,
 * until the user changes the pod template or the settings ask for a renewal.
 */
function staysAsItIs(
  { workload, old, operation, injector, renew }: DecisionInput,
  template: PodTemplate,
  tracing: TracingSettings,
): boolean {
  if (operation === 'CREATE' || !equal(recordedTracing(template), tracing)) return false;
  const settings = { ...injector, ...tracing };
  if (operation === 'UPDATE' && (old === undefined || !equal(templateOf(old), templateOf(workload)))) return false;
  if (renew === true && !isCurrent(template, settings)) return false;
  return isIntact(template, settings);
}

/** The template is in order; so shall be the workload's own label and stamp. */
function relabel(input: DecisionInput, template: PodTemplate, tracing: TracingSettings): Decision {
  const label = injectedLabel(template) ?? labelValue(input.injector.version);
  const metadata = stampedMetadata(input, label, tracing, 'none');
  if (
    equal(metadata.labels, input.workload.metadata.labels) &&
    equal(metadata.annotations, input.workload.metadata.annotations)
  )
    return none('up-to-date', messages['up-to-date']());
  const workload = { ...input.workload, metadata };
  return {
    action: 'inject',
    change: 'none',
    workload,
    code: 'relabelled',
    message: messages.relabelled(),
    leftAlone: [],
  };
}

/** Where nothing changed for the programs, the stamp that told of the last change stays: it was told of. */
function stampedMetadata(
  { workload, old, now, by }: DecisionInput,
  label: string,
  tracing: TracingSettings,
  change: 'added' | 'updated' | 'none',
): Metadata {
  const userLabel = labelOf(workload.metadata);
  const known = change === 'none' ? (stampOf(workload) ?? stampOf(old)) : undefined;
  const told = known ?? { change: change === 'none' ? ('adopted' as const) : change, at: now, by };
  const content = { change: told.change, at: told.at, by: told.by, tracing };
  return stamp(workload.metadata, label, userLabel === undefined ? content : { ...content, userLabel });
}

const stampOf = (workload: Workload | undefined): Stamp | undefined =>
  parseStamp(workload?.metadata.annotations?.[annotations.instrumentation]);

/** Whether what this operator wrote stands in the old object as well, word for word. */
function isSameInjection(old: Workload | undefined, template: PodTemplate): boolean {
  const before = old === undefined ? undefined : templateOf(old);
  if (before === undefined || !isInjected(before)) return false;
  return (
    equal(
      before.metadata?.annotations?.[annotations.injection],
      template.metadata?.annotations?.[annotations.injection],
    ) && injectedLabel(before) === injectedLabel(template)
  );
}
