import { messages, type Outcome } from './messages.ts';
import type { Metadata, PodTemplate, Workload } from './types.ts';
import { kindOf } from './workload.ts';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'RECONCILE';

/** Why a workload is not this operator's to change, whatever its namespace's policy; undefined when it is. */
export function reasonOutOfReach(
  workload: Workload,
  operation: Operation,
  template: PodTemplate | undefined,
): Outcome | undefined {
  const { apiVersion, kind, metadata } = workload;
  if (operation === 'DELETE') return ['deleted', messages.deleted()];
  if (kindOf(apiVersion, kind) === undefined) return ['other-kind', messages['other-kind'](`${apiVersion} ${kind}`)];
  if (metadata.deletionTimestamp !== undefined) return ['deleting', messages.deleting()];
  if (kind === 'Job' && operation === 'UPDATE') return ['job-update', messages['job-update']()];
  const owner = ownerOf(kind, metadata);
  if (owner !== undefined) return ['left-to-owner', messages['left-to-owner'](owner)];
  if (template === undefined) return ['no-template', messages['no-template']()];
  return isWindows(template) ? ['windows', messages.windows()] : undefined;
}

/** Who decides about it in its place, in words; undefined for one of its own. */
export function ownerOf(kind: string, { ownerReferences = [] }: Metadata): string | undefined {
  const controller = ownerReferences.find((owner) => owner.controller === true);
  if (controller === undefined) return undefined;
  const leads = kind === 'ReplicaSet' || (kind === 'Job' && controller.kind === 'CronJob');
  return leads ? `the ${controller.kind} '${controller.name}'` : undefined;
}

const isWindows = ({ spec: { os, nodeSelector } }: PodTemplate): boolean =>
  os?.name === 'windows' || nodeSelector?.['kubernetes.io/os'] === 'windows';
