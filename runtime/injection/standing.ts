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

/** Returns the pod template that stays. A working injection of any version stays, to avoid surprise rollouts. */
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

/** Returns the old template if the new one differs only in the injection, as a deployment tool sends it. */
function unchanged(old: Workload | undefined, template: PodTemplate): PodTemplate | undefined {
  const before = old && templateOf(old);
  return before !== undefined && equal(remove(before), remove(template)) ? before : undefined;
}

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

/** Returns metadata with label and stamp. Without a change for the programs, the stamp keeps the last change. */
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

function changeIn(input: DecisionInput, change: 'added' | 'updated' | 'none') {
  const { workload, old, now, by, attempt = 0 } = input;
  if (change !== 'none') return { change, at: now, by, ...(attempt > 0 ? { attempt } : {}) };
  const known = stampOf(workload.metadata) ?? stampOf(old?.metadata);
  if (known === undefined) return { change: 'adopted' as const, at: now, by };
  const tries = known.attempt === undefined ? {} : { attempt: known.attempt };
  return { change: known.change, at: known.at, by: known.by, ...tries };
}

export const isOriginals = ({ metadata }: Workload, template: PodTemplate): boolean =>
  ourLabel(metadata) !== undefined &&
  stampOf(metadata) === undefined &&
  readRecord(template) === undefined &&
  isInjected(template);

/** Restores the user's label, which the original operator replaced, in a namespace without a `Lumigo`. */
export const asItOptedIn = (workload: Workload, template: PodTemplate): Workload =>
  isOriginals(workload, template)
    ? {
        ...workload,
        metadata: { ...workload.metadata, labels: { ...workload.metadata.labels, [labels.autoTrace]: 'true' } },
      }
    : workload;
