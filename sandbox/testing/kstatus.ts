import type { LumigoResource } from '../../runtime/api/lumigo.ts';

export type Kstatus = 'Terminating' | 'InProgress' | 'Failed' | 'Current';

type Judged = Pick<LumigoResource, 'metadata' | 'status'>;
type Rule = (object: Judged) => Kstatus | undefined;

const ready: Readonly<Record<string, Kstatus>> = { True: 'Current', False: 'InProgress', Unknown: 'InProgress' };
const abnormal: Readonly<Record<string, Kstatus>> = { Reconciling: 'InProgress', Stalled: 'Failed' };

/** In this order. */
const rules: readonly Rule[] = [
  ({ metadata }) => (metadata.deletionTimestamp === undefined ? undefined : 'Terminating'),
  ({ metadata, status: { observedGeneration = metadata.generation } = {} }) =>
    observedGeneration === metadata.generation ? undefined : 'InProgress',
  ({ status }) =>
    abnormal[status?.conditions?.find(({ type, status: is }) => type in abnormal && is === 'True')?.type ?? ''],
  ({ status }) => ready[status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? ''],
];

/**
 * Judges a custom resource by the rules of kstatus, which Helm 4 and Flux wait with (`status.Compute` in
 * github.com/fluxcd/cli-utils/pkg/kstatus/status). A resource that no rule knows counts as ready.
 */
export function getKstatus(object: Judged): Kstatus {
  for (const judge of rules) {
    const result = judge(object);
    if (result !== undefined) return result;
  }
  return 'Current';
}
