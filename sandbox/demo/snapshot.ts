import { findKind, toTemplate } from '../../runtime/injection/workload.ts';
import type { WorkloadKind } from '../../runtime/contract.ts';
import type { Workload } from '../../runtime/api/objects.ts';
import type { Client } from '../../runtime/kubernetes/http/client.ts';
import type { DemoWorkload } from './workloads.ts';

/** The parts of a workload that the operator may change, as text. */
export interface Snapshot {
  readonly template: string;
  readonly labels: string;
}

export const getSnapshot = (workload: Workload): Snapshot => ({
  template: JSON.stringify(toTemplate(workload)),
  labels: JSON.stringify(workload.metadata.labels ?? {}),
});

/** Returns the differences between two snapshots. It is empty if they are equal to the byte. */
export function differences(before: Snapshot, after: Snapshot): string[] {
  return (['template', 'labels'] as const).flatMap((part) =>
    before[part] === after[part] ? [] : [`${part} was ${before[part]} and is ${after[part]}`],
  );
}

export function kindOfDemo({ manifest }: DemoWorkload): WorkloadKind {
  const kind = findKind(manifest.apiVersion, manifest.kind);
  if (kind === undefined) throw new Error(`${manifest.kind} is not a workload`);
  return kind;
}

export const toLabel = ({ manifest }: DemoWorkload): string => `${manifest.kind}/${manifest.metadata.name ?? ''}`;

export async function read(client: Client, workload: DemoWorkload): Promise<Workload> {
  const kind = kindOfDemo(workload);
  const { namespace, name } = workload.manifest.metadata;
  return typed(kind, await client.get({ ...kind, namespace, name }));
}

export async function create(client: Client, workload: DemoWorkload, dryRun: boolean): Promise<Workload> {
  const kind = kindOfDemo(workload);
  const { namespace } = workload.manifest.metadata;
  return typed(kind, (await client.create({ ...kind, namespace }, workload.manifest, { dryRun })).object);
}

const typed = ({ apiVersion, kind }: WorkloadKind, object: object): Workload =>
  ({ ...object, apiVersion, kind }) as Workload;
