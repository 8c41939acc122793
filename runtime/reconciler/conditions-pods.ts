import { annotations } from '../contract.ts';
import { shown } from '../rollout/evidence.ts';
import { complete, HALTED, incomplete, type Reasons, type Untimed } from './conditions-rollout.ts';
import type { PodsPlan } from './pods-plan.ts';

type Seen = Pick<PodsPlan, 'summary' | 'halted'>;

/** The first that holds says in one word how far the pods of a namespace in Pod mode are. */
const reasons: Reasons<Seen> = [
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
export const podsCondition = (seen: Seen, wasSaid: boolean): Untimed | undefined =>
  incomplete(seen, reasons, sentencesOf) ??
  (wasSaid ? complete('Every pod that could be injected is, and runs') : undefined);

const pods = (number: number, one: string, many: string): string =>
  number === 0 ? '' : number === 1 ? `1 pod ${one}` : `${number} pods ${many}`;

function sentencesOf({ halted, summary }: Seen): string[] {
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
