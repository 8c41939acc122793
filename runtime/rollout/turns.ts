import { mapAt, numberAt } from '../json/values.ts';
import type { Workload } from '../api/objects.ts';
import { kindOf } from '../injection/workload.ts';
import { completionOf } from './completion.ts';
import type { NamespaceTally } from './injector-health.ts';

/** What a failed rollout of a workload would cost. */
export interface Risk {
  /** 0: old pods serve until new ones are ready, to 4: no pod shows how it fares. */
  readonly rank: 0 | 1 | 2 | 3 | 4;
  readonly pods: number;
}

/** By the column `pods` of the table of kinds. */
const ranks = { replicas: 0, nodes: 1, ordinals: 2 } as const;

export function riskOf(workload: Workload): Risk {
  const [spec, status] = [mapAt(workload, 'spec'), mapAt(workload, 'status')];
  const form = kindOf(workload.apiVersion, workload.kind)?.pods;
  const pods = form === 'nodes' ? numberAt(status, 'desiredNumberScheduled') : numberAt(spec, 'replicas', 1);
  if (form === undefined || completionOf(workload).kind === 'no-pods') return { rank: 4, pods };
  return { rank: pods < 2 || endsAll(spec, pods) ? 3 : ranks[form], pods };
}

function endsAll(spec: ReturnType<typeof mapAt>, pods: number): boolean {
  const strategy = { ...mapAt(spec, 'strategy'), ...mapAt(spec, 'updateStrategy') };
  if (strategy['type'] === 'Recreate') return true;
  const { maxUnavailable } = mapAt(strategy, 'rollingUpdate');
  if (typeof maxUnavailable === 'number') return maxUnavailable >= pods;
  return typeof maxUnavailable === 'string' && Number.parseInt(maxUnavailable, 10) >= 100;
}

/** The other workloads of the namespace that have the injection. */
type Standing = Pick<NamespaceTally, 'verified' | 'untested'>;

export interface Waiting {
  readonly name: string;
  readonly kind: string;
  readonly risk: Risk;
}

/** Returns how many go together once so many are verified: one first, then at most twice as many as are. */
const waveAfter = (verified: number, largest: number): number => Math.min(largest, Math.max(1, 2 * verified));

/** Returns the sizes of the waves in which so many workloads go. */
export function wavesOf(workloads: number, largest: number): number[] {
  const waves: number[] = [];
  for (let verified = 0; verified < workloads; verified += waves.at(-1) ?? 0)
    waves.push(Math.min(waveAfter(verified, largest), workloads - verified));
  return waves;
}

export const inOrder = <T extends Waiting>(waiting: readonly T[]): T[] =>
  waiting.toSorted((a, b) => a.risk.rank - b.risk.rank || a.risk.pods - b.risk.pods || compare(nameOf(a), nameOf(b)));

const nameOf = ({ name, kind }: Waiting): string => `${name}/${kind}`;
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Returns the workloads that go now, if none is under way. Those without pods to judge go last, one of them first, and then all
 * together, since none of them restarts anything.
 */
export function nextTurns<T extends Waiting>(waiting: readonly T[], standing: Standing, largest: number): T[] {
  const judged = waiting.filter(({ risk }) => risk.rank < 4);
  if (judged.length > 0) return inOrder(judged).slice(0, waveAfter(standing.verified, largest));
  const isTried = standing.verified + standing.untested > 0;
  return isTried ? [...waiting] : inOrder(waiting).slice(0, 1);
}
