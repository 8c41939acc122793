import { workloads, type WorkloadKind } from '../contract.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';
import { isPodTemplate } from '../api/pod-template.ts';
import type { JsonMap } from '../json/values.ts';

export const findKind = (apiVersion: string, kind: string): WorkloadKind | undefined =>
  workloads.find((each) => each.kind === kind && each.apiVersion === apiVersion);

/** Returns the path of the pod template in an object: empty for a pod, undefined for a kind without one. */
export const templatePath = ({ apiVersion, kind }: Workload): readonly string[] | undefined =>
  kind === 'Pod' ? [] : findKind(apiVersion, kind)?.template;

/** Returns whether a change of the pod template replaces pods, which then show if the injection works. */
export function replacesPods({ apiVersion, kind, spec }: Workload): boolean {
  const { replicas, updateStrategy } = (spec ?? {}) as { replicas?: unknown; updateStrategy?: { type?: unknown } };
  return findKind(apiVersion, kind)?.pods !== undefined && replicas !== 0 && updateStrategy?.type !== 'OnDelete';
}

/** Returns the pod template of a workload or pod; undefined if it is missing or malformed. */
export function toTemplate(workload: Workload): PodTemplate | undefined {
  const template = findTemplate(workload);
  return template !== undefined && isPodTemplate(template) ? template : undefined;
}

/** An open definition, such as that of a Rollout, lets a malformed pod template be stored. */
export function findTemplate(workload: Workload): PodTemplate | undefined {
  const path = templatePath(workload);
  let node: unknown = workload;
  for (const step of path ?? []) node = (node as JsonMap | undefined)?.[step];
  const template = node as PodTemplate | undefined;
  return path !== undefined && Array.isArray(template?.spec?.containers) ? template : undefined;
}

export function withTemplate(workload: Workload, template: PodTemplate): Workload {
  return replaceAt(workload, templatePath(workload) ?? [], template) as Workload;
}

function replaceAt(node: unknown, [step, ...rest]: readonly string[], value: unknown): unknown {
  if (step === undefined) return value;
  return { ...(node as JsonMap), [step]: replaceAt((node as JsonMap)[step], rest, value) };
}
