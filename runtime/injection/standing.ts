import { labels } from '../contract.ts';
import { choiceOf } from './chosen-containers.ts';
import { none, putRight, type Decision, type DecisionInput } from './decision.ts';
import { isCurrent, isIntact, recordedSettings } from './intact.ts';
import { labelValue, ourLabel } from './label.ts';
import { covers, equal } from '../json/values.ts';
import { readRecord } from './record.ts';
import { isInjected, remove } from './remove.ts';
import { withoutRevert } from './revert.ts';
import { labelOf, stamp, stampOf } from './stamp.ts';
import type { Metadata, PodTemplate, Workload } from '../api/objects.ts';
import type { TracingSettings } from './types.ts';
import { templateOf, withTemplate } from './workload.ts';

/**
 * Returns the pod template that stays; undefined if the injection is written anew. An injection that works stays as any version wrote
 * it, until the user changes the pod template or the settings ask for a renewal. So there are no surprise rollouts.
 */
export function standingTemplate(
  { workload, old, operation, injector, renew }: DecisionInput,
  template: PodTemplate,
  tracing: TracingSettings,
): PodTemplate | undefined {
  const standing = operation === 'RECONCILE' ? template : unchanged(old, template);
  if (standing === undefined || !covers(recordedSettings(standing), tracing)) return undefined;
  const settings = { ...injector, ...tracing, choice: choiceOf(workload.metadata) };
  if (renew === true && !isCurrent(standing, settings)) return undefined;
  return isIntact(standing, settings) ? standing : undefined;
}

/** The old template, if the new one is the same but for the injection: a tool that sends the clean one has changed nothing. */
function unchanged(old: Workload | undefined, template: PodTemplate): PodTemplate | undefined {
  const before = old && templateOf(old);
  return before !== undefined && equal(remove(before), remove(template)) ? before : undefined;
}

/** Keeps the injection: restores it if it is missing, and corrects the workload's own label and stamp. */
export function leaveAsItIs(input: DecisionInput, standing: PodTemplate, tracing: TracingSettings): Decision {
  const { workload, injector } = input;
  const label = ourLabel(standing.metadata) ?? labelValue(injector.version);
  const metadata = stampedMetadata(input, label, tracing, 'none');
  const endpoint = recordedSettings(standing)?.endpoint;
  const more = endpoint === undefined || endpoint === injector.endpoint ? {} : { elsewhere: endpoint };
  if (!equal(standing, templateOf(workload)))
    return { ...putRight({ ...withTemplate(workload, standing), metadata }, 'restored'), ...more };
  const before = workload.metadata;
  const isRight = equal(metadata.labels, before.labels) && equal(metadata.annotations, before.annotations);
  return { ...(isRight ? none('up-to-date', workload) : putRight({ ...workload, metadata }, 'relabelled')), ...more };
}

/** A workload's metadata with our label and stamp. Where nothing changed for the programs, the stamp of the last change stays. */
export function stampedMetadata(
  input: DecisionInput,
  label: string,
  tracing: TracingSettings,
  change: 'added' | 'updated' | 'none',
): Metadata {
  const { metadata } = input.workload;
  const userLabel = labelOf(metadata);
  const isKept = input.policy.state === 'active' && !input.policy.remove;
  return stamp(withoutRevert(metadata), label, {
    ...changeIn(input, change),
    tracing,
    ...(isKept ? { keep: true } : {}),
    ...(userLabel === undefined ? {} : { userLabel }),
  });
}

/** The change that a stamp reports: this one, or the one before it. */
function changeIn(input: DecisionInput, change: 'added' | 'updated' | 'none') {
  const { workload, old, now, by, attempt = 0 } = input;
  if (change !== 'none') return { change, at: now, by, ...(attempt > 0 ? { attempt } : {}) };
  const known = stampOf(workload.metadata) ?? stampOf(old?.metadata);
  if (known === undefined) return { change: 'adopted' as const, at: now, by };
  const tries = known.attempt === undefined ? {} : { attempt: known.attempt };
  return { change: known.change, at: known.at, by: known.by, ...tries };
}

/** Returns true if the original operator made the injection, which left neither record nor stamp, and it is not adopted yet. */
export const isOriginals = ({ metadata }: Workload, template: PodTemplate): boolean =>
  ourLabel(metadata) !== undefined &&
  stampOf(metadata) === undefined &&
  readRecord(template) === undefined &&
  isInjected(template);

/**
 * Returns a workload as its user had it, in a namespace without a `Lumigo`. The original operator injected workloads that opted in by
 * their label, and replaced the label by its version. With the user's label the workload is renewed, and its token is let in.
 */
export const asItOptedIn = (workload: Workload, template: PodTemplate): Workload =>
  isOriginals(workload, template)
    ? {
        ...workload,
        metadata: { ...workload.metadata, labels: { ...workload.metadata.labels, [labels.autoTrace]: 'true' } },
      }
    : workload;
