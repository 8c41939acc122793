import { annotations, labels } from '../contract.ts';
import { blocked, none, sentence, type Decision } from './decision.ts';
import { otherNodes } from './eligibility.ts';
import { inject } from './inject.ts';
import { optedOut, ourLabel } from './label.ts';
import { isInjected } from './remove.ts';
import { selects } from '../api/label-selector.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';
import type { InjectionSettings, InjectorSettings, NamespacePolicy } from './types.ts';
import { whyInvalid } from './validity.ts';
import { toTemplate } from './workload.ts';

/** Makes the decision that the API server makes in Pod mode (infra/constructs/pod-policy). A test compares the two. */
export function decidePod(pod: Workload, policy: NamespacePolicy, injector: InjectorSettings): Decision {
  const template = toTemplate(pod);
  if (template === undefined) return none('no-template', pod);
  if (isInjected(template)) return none('up-to-date', pod);
  // A mirror pod of a static pod cannot refer to a Secret.
  if (pod.metadata.annotations?.[annotations.mirror] !== undefined) return none('mirror-pod', pod);
  const never = optedOut(pod.metadata) ? 'opted-out' : otherNodes(template.spec);
  if (never !== undefined) return none(never, pod);
  if (policy.kind !== 'pods') return none('no-pod-mode', pod);
  if (policy.selector !== undefined && !selects(policy.selector, pod.metadata.labels)) return none('not-selected', pod);
  return injectInto(pod, template, { ...injector, ...policy.tracing });
}

function injectInto(pod: Workload, template: PodTemplate, settings: InjectionSettings): Decision {
  const result = inject(template, settings);
  if (result.refused !== undefined)
    return { ...none('refused', pod, result.refused), tried: result.isUnwanted ? 'nothing' : 'add' };
  const workload = withOwnLabel(pod, result.template);
  const problem = whyInvalid(workload);
  if (problem !== undefined) return blocked('add', 'refused', pod, problem);
  const message = sentence('injected', pod);
  return { kind: 'inject', tried: 'add', workload, code: 'injected', message, skipped: result.skipped };
}

/** Keeps the user's label: a controller whose selector does not find its pods creates more of them without end. */
function withOwnLabel({ metadata: before }: Workload, injected: PodTemplate): Workload {
  const own = before.labels?.[labels.autoTrace];
  const isOwn = own !== undefined && ourLabel(before) === undefined;
  const { metadata = {} } = injected;
  const kept = isOwn ? { ...metadata.labels, [labels.autoTrace]: own } : metadata.labels;
  return { ...injected, metadata: { ...metadata, labels: kept } } as unknown as Workload;
}
