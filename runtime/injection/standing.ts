import { annotations, labels } from '../contract.ts';
import { getChoice } from './chosen-containers.ts';
import { none, corrected, type Decision, type DecisionInput } from './decision.ts';
import { hasSettings, isCurrent, isIntact, injectedSettings } from './intact.ts';
import { labelValue, ourLabel } from './label.ts';
import { equal, withoutEmpty } from '../json/values.ts';
import { getOriginalState } from './original-state.ts';
import { isInjected, remove } from './remove.ts';
import { parseRevert, withRevert } from './revert.ts';
import { isTooLarge } from './size.ts';
import { getInjectionStatus, injectionStatus, injectionStatusText, isOwnText } from './injection-status.ts';
import { findOptIn, removeInjectionStatus, toLabel } from './injection-status.ts';
import type { Container, PodTemplate, Workload } from '../api/objects.ts';
import type { TracingSettings } from './types.ts';
import { whyInvalid } from './validity.ts';
import { toTemplate, withTemplate } from './workload.ts';

/** Returns the pod template that stays. A working injection of any version stays, to avoid surprise rollouts. */
export function standingTemplate(input: DecisionInput, template: PodTemplate, tracing: TracingSettings) {
  const { workload, old, operation, injector, renew } = input;
  const standing = operation === 'RECONCILE' ? template : unchanged(old, template);
  if (standing === undefined || !hasSettings(standing, tracing)) return undefined;
  const settings = { ...injector, choice: getChoice(workload.metadata) };
  if (renew === true && !isCurrent(standing, settings)) return undefined;
  return isIntact(standing, settings) ? standing : undefined;
}

/** Returns the old template if the new one differs only in the injection, as a deployment tool sends it. */
function unchanged(old: Workload | undefined, template: PodTemplate): PodTemplate | undefined {
  const before = old && toTemplate(old);
  return before !== undefined && equal(toCompare(before), toCompare(template)) ? before : undefined;
}

/** Without the empty parts that a removal drops. Only an open definition such as Argo's stores them. */
function toCompare(template: PodTemplate): readonly unknown[] {
  const { metadata = {}, spec, ...more } = remove(template);
  const bare = (container: Container) => withoutEmpty(container, ['env', 'volumeMounts']);
  const programs = { containers: spec.containers.map(bare), initContainers: spec.initContainers?.map(bare) };
  const rest = withoutEmpty({ ...spec, ...programs }, ['initContainers', 'volumes', 'imagePullSecrets']);
  return [withoutEmpty(metadata, ['labels', 'annotations']), rest, more];
}

/** Restores an injection that an update would only remove. The API server refuses any other change of a Job. */
export function restored(input: DecisionInput, template: PodTemplate, otherwise: Decision): Decision {
  const { workload, old, injector } = input;
  const standing = [workload, old].some(isTooLarge) ? undefined : unchanged(old, template);
  const tracing = standing && injectedSettings(standing);
  if (standing === undefined || tracing === undefined || equal(standing, template)) return otherwise;
  if (workload.kind === 'Job') return corrected(withTemplate(workload, standing), 'restored');
  const decision = keepInjection(input, standing, tracing);
  const isKept = decision.kind === 'inject' && whyInvalid(decision.workload) === undefined;
  return isKept && isIntact(standing, { ...injector, choice: getChoice(workload.metadata) }) ? decision : otherwise;
}

export function keepInjection(input: DecisionInput, standing: PodTemplate, tracing: TracingSettings): Decision {
  const { workload, injector } = input;
  const label = ourLabel(standing.metadata) ?? labelValue(injector.version);
  const metadata = metadataWithStatus(input, label, tracing);
  const endpoint = injectedSettings(standing)?.endpoint;
  const more = endpoint === undefined || endpoint === injector.endpoint ? {} : { elsewhere: endpoint };
  if (!equal(standing, toTemplate(workload)))
    return { ...corrected({ ...withTemplate(workload, standing), metadata }, 'restored'), ...more };
  const isRight = equal(metadata, workload.metadata);
  return { ...(isRight ? none('up-to-date', workload) : corrected({ ...workload, metadata }, 'relabelled')), ...more };
}

/**
 * Restores the operator's annotation on an update that keeps its labels. `kubectl rollout undo` replaces all
 * annotations by those of an earlier revision. `kubectl replace` also drops the labels, and a revert then stands.
 */
export function withOwnText({ workload, old }: DecisionInput): Workload {
  const { metadata } = workload;
  const text = old && injectionStatusText(old.metadata);
  const sent = injectionStatusText(metadata);
  if (text === undefined || text === sent || !isOwnText(text)) return workload;
  // A repeated call of the webhook has the text of its own injection.
  const revert = isOwnText(sent) ? undefined : parseRevert(text);
  const own = [labels.autoTrace, labels.rollout];
  const isKept = own.every((key) => metadata.labels?.[key] === old?.metadata.labels?.[key]);
  if (revert === undefined && !isKept) return workload;
  const found = { ...metadata.annotations, [annotations.instrumentation]: text };
  const after = revert === undefined ? { ...metadata, annotations: found } : withRevert(metadata, revert);
  const restored = { ...workload, metadata: after };
  return whyInvalid(restored) === undefined ? restored : workload;
}

type Kept = Pick<DecisionInput, 'workload' | 'old' | 'policy' | 'now' | 'by' | 'attempt'>;

/** Records that the injection stays, because v69 left no record for a later removal. Jobs cannot change. */
export function keep(input: Kept) {
  const { workload } = input;
  const template = toTemplate(workload);
  const found = getInjectionStatus(workload.metadata);
  const label = ourLabel(workload.metadata);
  const tracing = found?.tracing ?? (template && injectedSettings(template));
  if (workload.kind === 'Job' || tracing === undefined || label === undefined || found?.keep === true) return undefined;
  return corrected({ ...workload, metadata: metadataWithStatus(input, label, tracing) }, 'kept');
}

type News = { readonly change?: 'added' | 'updated' | 'none'; readonly skipped?: string | undefined };

/** Returns metadata with label and injection status. Without a change for the programs, the injection status keeps the last change. */
export function metadataWithStatus(input: Kept, label: string, tracing: TracingSettings, news: News = {}) {
  const { policy, old, workload } = input;
  const before = policy.kind === 'inactive' ? getInjectionStatus(old?.metadata) : undefined;
  const keep = ('remove' in policy && !policy.remove) || before?.keep;
  const content = { ...changeIn(input, news), tracing, keep, userLabel: toLabel(workload.metadata) };
  return injectionStatus(removeInjectionStatus(workload.metadata), label, content);
}

function changeIn(input: Kept, { change = 'none', ...skipped }: News) {
  const { workload, old, now, by, attempt } = input;
  if (change !== 'none') return { change, ...skipped, at: now, by, attempt: attempt || undefined };
  const known = getInjectionStatus(workload.metadata) ?? getInjectionStatus(old?.metadata);
  return { ...(known ?? { change: 'adopted' as const, at: now, by }), ...skipped };
}

export function isOriginals(workload: Workload): boolean {
  const { metadata } = workload;
  const template = toTemplate(workload);
  if (template === undefined || getOriginalState(template) !== undefined) return false;
  return ourLabel(metadata) !== undefined && getInjectionStatus(metadata) === undefined && isInjected(template);
}

/** Restores the label of an opt-in, which the original replaced. A deleted `Lumigo` may have left other injections. */
export function asItOptedIn(workload: Workload): Workload {
  const metadata = { ...workload.metadata, labels: { ...workload.metadata.labels, [labels.autoTrace]: 'true' } };
  const tracing = isOriginals(workload) ? findOptIn(metadata) : undefined;
  const template = toTemplate(workload);
  return template && tracing && hasSettings(template, tracing) ? { ...workload, metadata } : workload;
}
