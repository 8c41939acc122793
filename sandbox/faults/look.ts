import type { CoreV1Event } from '@kubernetes/client-node';
import type { Workload } from '../../runtime/api/objects.ts';
import type { LumigoResource } from '../../runtime/api/lumigo.ts';
import { count } from './count.ts';
import type { Fleet } from './fleet.ts';
import { getState, wantedBy, type History } from './history.ts';
import type { Reader } from './reader.ts';

export interface Look {
  readonly atMs: number;
  readonly workloads: readonly Workload[];
  readonly lumigoes: readonly LumigoResource[];
  readonly events: readonly CoreV1Event[];
}

export const nothingYet: Look = { atMs: 0, workloads: [], lumigoes: [], events: [] };

export async function lookAt(reader: Reader, namespace: string): Promise<Look> {
  const atMs = Date.now();
  const workloads = await reader.deployments(namespace);
  const lumigoes = await reader.lumigoes(namespace);
  return { atMs, workloads, lumigoes, events: await reader.events(namespace) };
}

/** A program that fails with the injection is an expected warning. */
export const isWarning = ({ type, reason }: CoreV1Event): boolean =>
  type === 'Warning' && reason !== 'LumigoRevertedInstrumentation';

export function countBetween(start: Look, end: Look, fleet: Fleet, { writes, asks }: History): string[] {
  const isSince = (each: { namespace: string; atMs: number }) =>
    each.namespace === fleet.namespace && each.atMs >= start.atMs;
  const written = writes.filter(isSince);
  const asked = asks.filter(isSince);
  const before = start.lumigoes.map(wantedBy).filter((wanted) => wanted !== undefined);
  const old = new Set(start.events.map(({ metadata }) => metadata.name));
  const events = end.events.filter(({ metadata }) => !old.has(metadata.name));
  const uids = new Set([...written.map(({ uid }) => uid), ...events.map(({ involvedObject: { uid = '' } }) => uid)]);
  const byUid = (workloads: readonly Workload[]) => new Map(workloads.map((each) => [each.metadata.uid, each]));
  const first = byUid(start.workloads);
  const last = byUid(end.workloads);
  const all = [...uids].flatMap((uid) => {
    const was = first.get(uid);
    const is = last.get(uid);
    const state = was && getState(was);
    const found = count({
      writes: written
        .filter((write) => write.uid === uid && write.version > (state?.version ?? 0))
        .toSorted((a, b) => a.version - b.version),
      asks: [...before.map((wanted) => ({ ...start, namespace: fleet.namespace, wanted })), ...asked],
      events: byReason(events.filter(({ involvedObject }) => involvedObject.uid === uid)),
      start: state,
      end: is?.metadata.generation ?? 0,
      fails: fleet.failing !== undefined && is?.metadata.name === fleet.failing,
    });
    return found.map((sentence) => `${sentence} (${fleet.namespace}/${is?.metadata.name})`);
  });
  return all.filter((sentence) => fleet.isReported || sentence.startsWith('restarted'));
}

function byReason(events: readonly CoreV1Event[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { reason = '' } of events) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return counts;
}
