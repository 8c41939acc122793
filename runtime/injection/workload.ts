import { workloads, type WorkloadKind } from '../contract.ts';
import type { PodTemplate, Workload } from './types.ts';

const byType = new Map<string, WorkloadKind>(workloads.map((kind) => [`${kind.apiVersion}/${kind.kind}`, kind]));

/** The kind of a workload that can be instrumented; undefined for everything else. */
export const kindOf = (apiVersion: string, kind: string): WorkloadKind | undefined =>
  byType.get(`${apiVersion}/${kind}`);

type Tree = Readonly<Record<string, unknown>>;

/** The pod template of a workload; undefined where there is none (an object that is not valid). */
export function templateOf(workload: Workload): PodTemplate | undefined {
  const kind = kindOf(workload.apiVersion, workload.kind);
  let node: unknown = workload;
  for (const step of kind?.template ?? []) node = (node as Tree | undefined)?.[step];
  const template = node as PodTemplate | undefined;
  return kind !== undefined && Array.isArray(template?.spec?.containers) ? template : undefined;
}

/** The same workload with another pod template; everything around it is shared, not copied. */
export function withTemplate(workload: Workload, template: PodTemplate): Workload {
  const path = kindOf(workload.apiVersion, workload.kind)?.template ?? [];
  return replaceAt(workload, path, template) as Workload;
}

function replaceAt(node: unknown, [step, ...rest]: readonly string[], value: unknown): unknown {
  if (step === undefined) return value;
  return { ...(node as Tree), [step]: replaceAt((node as Tree)[step], rest, value) };
}
