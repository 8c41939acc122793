import { annotations } from '../contract.ts';
import type { Condition } from '../injection/types.ts';
import { shown } from '../rollout/evidence.ts';
import { HALTED, ROLLED_OUT } from './conditions-rollout.ts';
import type { PodsPlan } from './pods-plan.ts';

type Seen = Pick<PodsPlan, 'summary' | 'halted'>;

/** The first that holds says in one word how far the pods of a namespace in Pod mode are. */
const reasons: readonly (readonly [reason: string, holds: (seen: Seen) => boolean])[] = [
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
export function podsCondition(
  seen: Seen,
  wasSaid: boolean,
): Pick<Condition, 'type' | 'status' | 'reason' | 'message'> | undefined {
  const reason = reasons.find(([, holds]) => holds(seen))?.[0];
  if (reason !== undefined) return { type: ROLLED_OUT, status: 'False', reason, message: messageOf(seen) };
  const message = 'Every pod that could be injected is, and runs';
  return wasSaid ? { type: ROLLED_OUT, status: 'True', reason: 'Complete', message } : undefined;
}

const pods = (number: number, one: string, many: string): string =>
  number === 0 ? '' : number === 1 ? `1 pod ${one}` : `${number} pods ${many}`;

function messageOf({ halted, summary }: Seen): string {
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
  ]
    .filter((each) => each !== '')
    .join('. ');
}
