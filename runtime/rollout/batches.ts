import type { WorkloadKind } from '../contract.ts';
import { mapAt, numberAt } from '../json/values.ts';
import type { Workload } from '../api/objects.ts';
import { findKind } from '../injection/workload.ts';
import { findPodCounts, getCompletion } from './completion.ts';
import type { NamespaceTally } from './injector-health.ts';

export interface Risk {
  /** From 0 (old pods serve until new ones are ready) to 4 (no pod shows if the injection works). */
  readonly rank: 0 | 1 | 2 | 3 | 4;
  readonly pods: number;
}

export const hasPodsToJudge = ({ rank }: Risk): boolean => rank < 4;

const ranks = { replicas: 0, nodes: 1, ordinals: 2 } as const;

export function getRisk(workload: Workload): Risk {
  const spec = mapAt(workload, 'spec');
  const form = findKind(workload.apiVersion, workload.kind)?.pods;
  const pods = findPodCounts(workload)?.wanted ?? numberAt(spec, 'replicas', 1);
  if (form === undefined || getCompletion(workload).kind === 'no-pods') return { rank: 4, pods };
  return { rank: pods < 2 || endsAll(spec, pods, form === 'nodes') ? 3 : ranks[form], pods };
}

/** Kubernetes rounds the percentage of a DaemonSet up, and that of the others down. */
function endsAll(spec: ReturnType<typeof mapAt>, pods: number, isRoundedUp: boolean): boolean {
  const strategy = { ...mapAt(spec, 'strategy'), ...mapAt(spec, 'updateStrategy') };
  if (strategy['type'] === 'Recreate') return true;
  const { maxUnavailable } = { ...mapAt(strategy, 'rollingUpdate'), ...mapAt(strategy, 'canary') };
  if (typeof maxUnavailable === 'number') return maxUnavailable >= pods;
  const percent = typeof maxUnavailable === 'string' ? Number.parseInt(maxUnavailable, 10) : Number.NaN;
  return isRoundedUp ? Math.ceil((percent * pods) / 100) >= pods : percent >= 100;
}

export interface Waiting {
  readonly name: string;
  readonly kind: Pick<WorkloadKind, 'kind'>;
  readonly risk: Risk;
}

/** Returns the size of the next batch: one first, then at most twice the number of verified workloads. */
const batchSizeAfter = (verified: number, largest: number): number => Math.min(largest, Math.max(1, 2 * verified));

export function getBatches(workloads: number, largest: number): number[] {
  const batches: number[] = [];
  for (let verified = 0; verified < workloads; verified += batches.at(-1) ?? 0)
    batches.push(Math.min(batchSizeAfter(verified, largest), workloads - verified));
  return batches;
}

export const inOrder = <T extends Waiting>(waiting: readonly T[]): T[] =>
  waiting.toSorted(
    (a, b) => a.risk.rank - b.risk.rank || a.risk.pods - b.risk.pods || getName(a).localeCompare(getName(b)),
  );

const getName = ({ name, kind }: Waiting): string => `${name}/${kind.kind}`;

/** Returns the next batch. Workloads without pods to judge go last: one, then all, since Kubernetes restarts nothing. */
export function nextBatch<T extends Waiting>(waiting: readonly T[], tally: NamespaceTally, largest: number): T[] {
  const judged = waiting.filter(({ risk }) => hasPodsToJudge(risk));
  if (judged.length > 0) return inOrder(judged).slice(0, batchSizeAfter(tally.verified, largest));
  return tally.verified + tally.untested > 0 ? [...waiting] : inOrder(waiting).slice(0, 1);
}
