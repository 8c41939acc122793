import type * as api from '@kubernetes/client-node';
import type { PodSpec, Raw } from './types.ts';

/** What an injection needs of a node, by its label: without one of the values it cannot run there. */
const needs = [
  { label: 'kubernetes.io/os', values: ['linux'], other: 'windows' },
  { label: 'beta.kubernetes.io/os', values: ['linux'], other: 'windows' },
  { label: 'kubernetes.io/arch', values: ['amd64', 'arm64'], other: 'architecture' },
  { label: 'beta.kubernetes.io/arch', values: ['amd64', 'arm64'], other: 'architecture' },
] as const;

type Requirement = Raw<api.V1NodeSelectorRequirement>;

/**
 * What keeps the injector from every node that the pods may run on; undefined where some node is for both. Required alone
 * counts: what is preferred may be passed over.
 */
export function otherNodes({ os, nodeSelector = {}, affinity }: PodSpec): 'windows' | 'architecture' | undefined {
  if (os?.name === 'windows') return 'windows';
  const selected = Object.entries(nodeSelector).map(([key, value]) => ({ key, operator: 'In', values: [value] }));
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [{}];
  // One of the terms is enough for a node.
  const others = terms.map(({ matchExpressions = [] }) => otherThanNeeded([...selected, ...matchExpressions]));
  return others.every((other) => other !== undefined) ? others[0] : undefined;
}

const otherThanNeeded = (requirements: readonly Requirement[]) =>
  needs.find(({ label, values }) => {
    const said = requirements.filter(({ key }) => key === label);
    return !values.some((value) => said.every((requirement) => allows(requirement, value)));
  })?.other;

function allows({ operator, values = [] }: Requirement, value: string): boolean {
  if (operator === 'In') return values.includes(value);
  return operator !== 'NotIn' || !values.includes(value);
}
