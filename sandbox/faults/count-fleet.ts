import type { Workload } from '../../runtime/api/objects.ts';
import { count } from './count.ts';
import type { Fleet } from './fleet.ts';
import { getState, wantedBy, type History } from './history.ts';

/** Returns findings about the history of a fleet since its start, each with the name of its workload. */
export function countFleet(fleet: Fleet, { writes, asks }: History): string[] {
  const { namespace, start, now, failing } = fleet;
  const isSince = (each: { namespace: string; atMs: number }) =>
    each.namespace === namespace && each.atMs >= start.atMs;
  const written = writes.filter(isSince);
  const before = start.lumigoes.map(wantedBy).filter((wanted) => wanted !== undefined);
  const asked = [...before.map((wanted) => ({ atMs: start.atMs, namespace, wanted })), ...asks.filter(isSince)];
  const old = new Set(start.events.map(({ metadata }) => metadata.name));
  const events = now.events.filter(({ metadata }) => !old.has(metadata.name));
  const uids = new Set([...written.map(({ uid }) => uid), ...events.map(({ involvedObject: { uid = '' } }) => uid)]);
  const all = [...uids].flatMap((uid) => {
    const isIt = ({ metadata }: Workload) => metadata.uid === uid;
    const [state] = start.workloads.filter(isIt).map(getState);
    const is = now.workloads.find(isIt)?.metadata;
    const later = writes.filter((write) => write.uid === uid && write.version > (state?.version ?? 0));
    const since = later.filter(isSince).toSorted((a, b) => a.version - b.version);
    return count({
      writes: since,
      asks: asked,
      events: events.filter(({ involvedObject }) => involvedObject.uid === uid).map(({ reason = '' }) => reason),
      start: state,
      // A restored store lacks writes from before the start, and their events may come later.
      end: (is?.generation ?? 0) + later.filter((write) => write.byOperator && !isSince(write)).length,
      fails: failing !== undefined && is?.name === failing,
    }).map((sentence) => `${sentence} (${namespace}/${is?.name})`);
  });
  return all.filter((sentence) => fleet.isReported || sentence.startsWith('restarted'));
}
