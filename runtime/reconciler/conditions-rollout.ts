import { annotations } from '../contract.ts';
import type { Condition } from '../injection/types.ts';
import { shown } from '../rollout/evidence.ts';
import type { ObservedWorkload } from './observed.ts';
import type { RolloutSummary } from './plan-rollout.ts';
import type { PodsPlan } from './plan-next-pods.ts';

/** A condition as it is planned: since when it holds follows from the one before. */
export type Untimed = Omit<Condition, 'lastTransitionTime' | 'observedGeneration'>;

/** How many workloads of a sort are named. */
const NAMED = 10;

export const ROLLED_OUT = 'RolledOut';
export const HALTED = 'Halted';

/** The first that holds says in one word how far a rollout is. */
type Reasons<T> = readonly (readonly [reason: string, holds: (seen: T) => boolean])[];

const reasons: Reasons<RolloutSummary> = [
  [HALTED, ({ halted }) => halted !== undefined],
  ['Progressing', ({ underWay, queued }) => underWay.length + queued > 0],
  ['PutBack', ({ reverted }) => reverted.length > 0],
  ['Blocked', ({ blocked }) => blocked.length > 0],
  ['LeftForNow', ({ left }) => left > 0],
];

/** How far the instrumentation of what exists is, for people; undefined while there is, and was, nothing to say. */
export const rolloutCondition = (summary: RolloutSummary, wasSaid: boolean): Untimed | undefined =>
  incomplete(summary, reasons, sentencesOf) ??
  (wasSaid ? complete('Every workload that could be instrumented is, and runs') : undefined);

/** Undefined where none of the reasons holds; empty sentences are left out. */
function incomplete<T>(seen: T, all: Reasons<T>, say: (seen: T) => readonly string[]): Untimed | undefined {
  const reason = all.find(([, holds]) => holds(seen))?.[0];
  const message = say(seen).filter((each) => each !== '');
  return reason === undefined ? undefined : { type: ROLLED_OUT, status: 'False', reason, message: message.join('. ') };
}

const complete = (message: string): Untimed => ({
  ...{ type: ROLLED_OUT, status: 'True', reason: 'Complete', message },
});

const nameOf = ({ kind, name }: ObservedWorkload): string => `${kind.kind}/${name}`;

const some = <T>(list: readonly T[], say: (item: T) => string): string[] => [
  ...list.slice(0, NAMED).map(say),
  ...(list.length > NAMED ? [`and ${list.length - NAMED} more`] : []),
];

const sentencesOf = ({ halted, underWay, queued, blocked, reverted, left }: RolloutSummary): string[] => [
  halted === undefined ? '' : `No further workload is changed: ${halted}`,
  ...some(
    reverted,
    (each) =>
      `${nameOf(each)} was put back at ${shown(`${note(each).at} (${note(each).cause}): ${note(each).evidence}`)}`,
  ),
  reverted.length === 0
    ? ''
    : `Tried again when the pod template or the injector changes, or by ${retryOf(reverted[0])}`,
  underWay.length === 0 ? '' : `Under way: ${some(underWay, nameOf).join(', ')}`,
  queued === 0 ? '' : `${queued} wait for their turn`,
  ...some(blocked, (each) => `${nameOf(each)} ${each.rollout.shape.blocked?.message} and is left until it is not`),
  left === 0 ? '' : `${left} are left until their pod template changes, as the setting rollout.strategy asks`,
];

const note = ({ rollout }: RolloutSummary['reverted'][number]) => rollout.note;

const retryOf = (workload: ObservedWorkload | undefined): string =>
  workload === undefined
    ? ''
    : `'kubectl -n ${workload.namespace} annotate --overwrite ${workload.kind.plural}.${workload.kind.group} ${workload.name} ${annotations.retry}="$(date)"'`;

type PodsSeen = Pick<PodsPlan, 'summary' | 'halted'>;

/** The first that holds says in one word how far the pods of a namespace in Pod mode are. */
const podReasons: Reasons<PodsSeen> = [
  [HALTED, ({ halted }) => halted !== undefined],
  ['NotInjected', ({ summary }) => summary.isMissed],
  [
    'Blocked',
    ({ summary: { waiting, blocked, kept, underWay } }) =>
      underWay === undefined && waiting > 0 && blocked + kept >= waiting,
  ],
  ['Progressing', ({ summary: { waiting, underWay } }) => waiting > 0 || underWay !== undefined],
  ['LeftForNow', ({ summary }) => summary.left > 0],
];

/** How far the pods that run are replaced, for people; undefined while there is, and was, nothing to say. */
export const podsCondition = (seen: PodsSeen, wasSaid: boolean): Untimed | undefined =>
  incomplete(seen, podReasons, podSentencesOf) ??
  (wasSaid ? complete('Every pod that could be injected is, and runs') : undefined);

const pods = (number: number, one: string, many: string): string =>
  number === 0 ? '' : number === 1 ? `1 pod ${one}` : `${number} pods ${many}`;

function podSentencesOf({ halted, summary }: PodsSeen): string[] {
  const { underWay, waiting, blocked, kept, left, isMissed } = summary;
  return [
    halted === undefined
      ? ''
      : `No pod is injected or evicted since ${shown(`${halted.at} (${halted.cause}): ${halted.evidence}`)}. Tried again when the spec or the injector changes, or by the annotation '${annotations.retry}' of this Lumigo`,
    isMissed
      ? 'A new pod came without the injection: the API server does not reach the webhook, or somebody takes it out'
      : '',
    underWay === undefined ? '' : `What replaces '${underWay}' is awaited`,
    pods(waiting, 'waits to be replaced', 'wait to be replaced'),
    pods(blocked, 'waits until its others are ready', 'wait until others of their controller are ready'),
    pods(kept, 'is kept by a disruption budget', 'are kept by a disruption budget'),
    pods(left, 'is left until it is replaced anyway', 'are left until they are replaced anyway'),
  ];
}
