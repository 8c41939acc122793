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
  ['Reverted', ({ reverted }) => reverted.length > 0],
  ['Blocked', ({ blocked }) => blocked.length > 0],
  ['LeftForNow', ({ left }) => left > 0],
];

/** How far the instrumentation of what exists is, for people; undefined while there is, and was, nothing to say. */
export const rolloutCondition = (summary: RolloutSummary, wasSaid: boolean): Untimed | undefined =>
  incomplete(summary, reasons, sentencesOf) ??
  (wasSaid ? complete('All workloads that can be instrumented are instrumented and run') : undefined);

/** Undefined where none of the reasons holds; empty sentences are left out. */
function incomplete<T>(seen: T, all: Reasons<T>, say: (seen: T) => readonly string[]): Untimed | undefined {
  const reason = all.find(([, holds]) => holds(seen))?.[0];
  const message = say(seen).filter((each) => each !== '');
  return reason === undefined ? undefined : { type: ROLLED_OUT, status: 'False', reason, message: message.join('. ') };
}

const complete = (message: string): Untimed => ({
  ...{ type: ROLLED_OUT, status: 'True', reason: 'Complete', message },
});

const counted =
  (noun: string) =>
  (number: number, one: string, many: string): string =>
    number === 0 ? '' : number === 1 ? `1 ${noun} ${one}` : `${number} ${noun}s ${many}`;
const workloads = counted('workload');
const pods = counted('pod');

const nameOf = ({ kind, name }: ObservedWorkload): string => `${kind.kind}/${name}`;

const some = <T>(list: readonly T[], say: (item: T) => string): string[] => [
  ...list.slice(0, NAMED).map(say),
  ...(list.length > NAMED ? [`and ${list.length - NAMED} more`] : []),
];

const sentencesOf = ({ halted, underWay, queued, blocked, reverted, left }: RolloutSummary): string[] => [
  halted === undefined ? '' : `The rollout is halted: ${halted}`,
  ...some(
    reverted,
    (each) =>
      `${nameOf(each)} was reverted at ${shown(`${note(each).at} (${note(each).cause}): ${note(each).evidence}`)}`,
  ),
  reverted.length === 0
    ? ''
    : `The operator tries again when the pod template or the injector changes, or when you run ${retryOf(reverted[0])}`,
  underWay.length === 0 ? '' : `In progress: ${some(underWay, nameOf).join(', ')}`,
  workloads(queued, 'is queued', 'are queued'),
  ...some(blocked, (each) => `The operator waits because ${nameOf(each)} ${each.rollout.shape.blocked?.message}`),
  workloads(
    left,
    'is not changed until its pod template changes, because of the setting rollout.strategy',
    'are not changed until their pod template changes, because of the setting rollout.strategy',
  ),
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
  (wasSaid ? complete('All pods that can be injected are injected and run') : undefined);

function podSentencesOf({ halted, summary }: PodsSeen): string[] {
  const { underWay, waiting, blocked, kept, left, isMissed } = summary;
  return [
    halted === undefined
      ? ''
      : `No pod is injected or evicted since ${shown(`${halted.at} (${halted.cause}): ${halted.evidence}`)}. The operator tries again when the spec or the injector changes, or when you change the annotation '${annotations.retry}' of this Lumigo resource`,
    isMissed
      ? 'A new pod was created without the injection: the API server does not reach the webhook, or another program removes the injection'
      : '',
    underWay === undefined ? '' : `Waiting for the replacement of pod '${underWay}'`,
    pods(waiting, 'waits to be replaced', 'wait to be replaced'),
    pods(
      blocked,
      'waits until the other pods of its controller are ready',
      'wait until the other pods of their controllers are ready',
    ),
    pods(kept, 'is kept by a disruption budget', 'are kept by a disruption budget'),
    pods(
      left,
      'is not evicted and changes when it is next replaced',
      'are not evicted and change when they are next replaced',
    ),
  ];
}
