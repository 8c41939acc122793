import { none, type Decision, type DecisionInput } from './decision.ts';
import { ourLabel } from './label.ts';
import { messages } from './messages.ts';
import type { NamespacePolicy, Workload } from './types.ts';

/** What the reconciler does not touch although the policy covers it: Jobs, and what is older than a Lumigo that says so. */
export function heldBack({ workload, policy }: DecisionInput, injected: boolean): Decision | undefined {
  if (workload.kind === 'Job') {
    if (injected) return none('up-to-date', messages['up-to-date']());
    if (isFinished(workload)) return none('job-finished', messages['job-finished']());
    if (isLeftExisting(workload, policy)) return none('existing-left', messages['existing-left']());
    return none('job-immutable', messages['job-immutable'](), { blocked: true });
  }
  return !injected && isLeftExisting(workload, policy) ? none('existing-left', messages['existing-left']()) : undefined;
}

const isLeftExisting = ({ metadata }: Workload, policy: NamespacePolicy): boolean =>
  policy.state === 'active' &&
  !policy.injectExisting &&
  (metadata.creationTimestamp ?? '') <= policy.createdAt &&
  ourLabel(metadata) === undefined;

function isFinished(job: Workload): boolean {
  const { completionTime, conditions = [] } = (job['status'] ?? {}) as {
    completionTime?: string;
    conditions?: readonly { type: string; status: string }[];
  };
  const over = conditions.some(({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True');
  return completionTime !== undefined || over;
}
