import type * as api from '@kubernetes/client-node';
import { blocked, none, type Decision, type DecisionInput } from './decision.ts';
import { ourLabel } from './label.ts';
import { findRevert } from './revert.ts';
import type { Metadata, Workload, PodSpec, Frozen } from '../api/objects.ts';
import type { NamespacePolicy } from './types.ts';
import { findKind } from './workload.ts';

export function ineligible({ workload, operation }: DecisionInput): Decision | undefined {
  const { apiVersion, kind, metadata } = workload;
  if (findKind(apiVersion, kind) === undefined) return none('other-kind', workload, `${apiVersion} ${kind}`);
  if (metadata.deletionTimestamp !== undefined) return none('deleting', workload);
  if (kind === 'Job' && operation === 'UPDATE') return none('job-update', workload);
  const owner = findOwner(kind, metadata);
  return owner === undefined ? undefined : none('left-to-owner', workload, owner);
}

/**
 * Names the owner that decides about this one; undefined if it decides for itself. A controller of ReplicaSets may find
 * them by equal templates, as a Deployment does. Jobs of other kinds decide for themselves. The match conditions agree.
 */
export function findOwner(kind: string, { ownerReferences = [] }: Metadata): string | undefined {
  const controller = ownerReferences.find((owner) => owner.controller === true);
  if (controller === undefined) return undefined;
  const isWorkload = findKind(controller.apiVersion, controller.kind) !== undefined;
  const isLeft = kind === 'ReplicaSet' || (kind === 'Job' && isWorkload);
  return isLeft ? `the ${controller.kind} '${controller.name}'` : undefined;
}

export function skippedByReconciler({ workload, policy }: DecisionInput, injected: boolean): Decision | undefined {
  const isJob = workload.kind === 'Job';
  if (injected) return isJob ? none('up-to-date', workload) : undefined;
  if (isJob && isFinished(workload)) return none('job-finished', workload);
  if (isLeftExisting(workload, policy)) return none('existing-left', workload);
  return isJob ? blocked('add', 'job-immutable', workload) : undefined;
}

const isLeftExisting = ({ metadata }: Workload, policy: NamespacePolicy): boolean =>
  policy.kind === 'active' &&
  !policy.injectExisting &&
  (metadata.creationTimestamp ?? '') <= policy.createdAt &&
  (ourLabel(metadata) ?? findRevert(metadata)) === undefined;

export function isFinished(job: Workload): boolean {
  const { conditions = [] } = (job['status'] ?? {}) as Frozen<api.V1JobStatus>;
  return conditions.some(({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True');
}

export const needs = [
  { label: 'kubernetes.io/os', values: ['linux'], other: 'windows' },
  { label: 'beta.kubernetes.io/os', values: ['linux'], other: 'windows' },
  { label: 'kubernetes.io/arch', values: ['amd64', 'arm64'], other: 'architecture' },
  { label: 'beta.kubernetes.io/arch', values: ['amd64', 'arm64'], other: 'architecture' },
] as const;

type Requirement = Frozen<api.V1NodeSelectorRequirement>;

/** Returns why no node for the pods suits the injection. The scheduler may ignore preferences, so they do not count. */
export function otherNodes({ os, nodeSelector = {}, affinity }: PodSpec): 'windows' | 'architecture' | undefined {
  if (os?.name === 'windows') return 'windows';
  // Only the needed labels, because a client can send thousands of labels and of terms.
  const selected = needs.flatMap(({ label: key }) =>
    Object.hasOwn(nodeSelector, key) ? [{ key, operator: 'In', values: [nodeSelector[key] ?? ''] }] : [],
  );
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [{}];
  const others = terms.map(({ matchExpressions = [] }) => otherThanNeeded([...selected, ...matchExpressions]));
  return others.every((other) => other !== undefined) ? others[0] : undefined;
}

const otherThanNeeded = (requirements: readonly Requirement[]) =>
  needs.find(({ label, values }) => {
    const matching = requirements.filter(({ key }) => key === label);
    return !values.some((value) => matching.every((requirement) => allows(requirement, value)));
  })?.other;

function allows({ operator, values = [] }: Requirement, value: string): boolean {
  if (operator === 'In') return values.includes(value);
  return operator !== 'NotIn' || !values.includes(value);
}
