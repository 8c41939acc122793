import { annotations, labels } from '../contract.ts';
import { blocked, none, sentence, type Decision } from './decision.ts';
import { inject } from './inject.ts';
import { isIntact, recordedSettings } from './intact.ts';
import { optedOut, ourLabel } from './label.ts';
import { covers } from './lists.ts';
import { otherNodes } from './eligibility.ts';
import { LARGEST, mayOutgrow, sizeOf, tooLarge } from './size.ts';
import type {
  InjectionSettings,
  InjectorSettings,
  NamespacePolicy,
  PodTemplate,
  TracingSettings,
  Workload,
} from './types.ts';
import { whyInvalid } from './validity.ts';
import { templateOf } from './workload.ts';

export interface PodInput {
  /** A whole pod, as it is about to be created; one that runs is decided about in the same way. */
  readonly pod: Workload;
  readonly policy: NamespacePolicy;
  readonly injector: InjectorSettings;
}

/**
 * The decision about a pod, in Pod mode: `inject` of its own form, which is a pod template's. A pod is never changed once it runs, so
 * nothing is stamped upon it: its record and its label say that it is injected.
 */
export function decidePod({ pod, policy, injector }: PodInput): Decision {
  const template = templateOf(pod);
  if (template === undefined) return none('no-template', pod);
  const left = leftAlone(pod, template);
  if (left !== undefined) return left;
  return policy.state === 'pods'
    ? injectInto(pod, template, { ...injector, ...policy.tracing }, policy.tracing)
    : none('no-pod-mode', pod);
}

function injectInto(
  pod: Workload,
  template: PodTemplate,
  settings: InjectionSettings,
  tracing: TracingSettings,
): Decision {
  if (covers(recordedSettings(template), tracing) && isIntact(template, settings)) return none('up-to-date', pod);
  const size = sizeOf(pod);
  if (size > LARGEST) return blocked('add', 'too-large', pod, tooLarge);
  const result = inject(template, settings);
  if (result.refused !== undefined) return blocked('add', 'refused', pod, result.refused);
  const workload = withOwnLabel(pod, result.template);
  const problem = whyInvalid(workload);
  if (problem !== undefined) return blocked('add', 'refused', pod, problem);
  if (mayOutgrow(size) && sizeOf(workload) > LARGEST) return blocked('add', 'too-large', pod, tooLarge);
  const message = sentence('injected', pod);
  return { action: 'inject', tried: 'add', workload, code: 'injected', message, leftAlone: result.leftAlone };
}

/** What no policy injects. */
function leftAlone(pod: Workload, { spec }: PodTemplate): Decision | undefined {
  const { metadata } = pod;
  // A pod that mirrors a file may refer to no Secret.
  if (metadata.annotations?.[annotations.mirror] !== undefined) return none('mirror-pod', pod);
  if (optedOut(metadata)) return none('opted-out', pod);
  const other = otherNodes(spec);
  return other === undefined ? undefined : none(other, pod);
}

/**
 * A label of the user's stays: a selector may ask for it, and a controller that does not find the pods which it made goes on making
 * them.
 */
function withOwnLabel({ metadata: before }: Workload, injected: PodTemplate): Workload {
  const own = before.labels?.[labels.autoTrace];
  const { metadata = {} } = injected;
  const isOwn = own !== undefined && ourLabel(before) === undefined;
  const kept = isOwn ? { ...metadata.labels, [labels.autoTrace]: own } : metadata.labels;
  return { ...injected, metadata: { ...metadata, labels: kept } } as unknown as Workload;
}
