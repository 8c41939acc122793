import { annotations, labels } from '../contract.ts';
import type { ConditionReason, ConditionType } from '../api/conditions.ts';
import type { Condition, Problem } from '../api/lumigo.ts';
import { shown } from '../rollout/evidence.ts';
import { blockedTexts } from '../rollout/workload-state.ts';
import { abridged } from '../wording/abridged.ts';
import type { PodsSeen } from '../pod-mode/pod-counts.ts';
import type { ObservedWorkload } from './observed.ts';
import type { RolloutSummary } from './plan-rollout.ts';

/** `observedGeneration`: the present one, unless the condition is kept from an earlier status. */
export type Untimed = Omit<Condition, 'lastTransitionTime'>;

export function condition(type: ConditionType, status: Condition['status'], { reason, message }: Problem | Untimed) {
  return { type, status, reason, message };
}

export const MAX_NAMES_SHOWN = 10;
export const ROLLED_OUT = 'RolledOut';
export const HALTED = 'Halted';

const reasons: readonly (readonly [reason: ConditionReason, holds: (seen: RolloutSummary) => boolean])[] = [
  [HALTED, ({ halted }) => halted !== undefined],
  ['Progressing', ({ underWay, queued }) => underWay.length + queued > 0],
  ['Reverted', ({ reverted }) => reverted.length > 0],
  ['Blocked', ({ blocked }) => blocked.length > 0],
  ['Unready', ({ unready }) => unready.length > 0],
  ['LeftForNow', ({ left }) => left > 0],
  ['PodsWithoutInjection', ({ pods }) => pods !== undefined && pods.without > 0],
];

/** `isKnown`: every workload has been checked. Until then a new leader keeps the condition of an earlier one. */
export function rolloutCondition(summary: RolloutSummary, before: Untimed | undefined, isKnown: boolean) {
  const reason = reasons.find(([, holds]) => holds(summary))?.[0];
  const message = inWords(summary).filter((each) => each !== '');
  if (reason !== undefined) return condition(ROLLED_OUT, 'False', { reason, message: message.join('. ') });
  if (!isKnown || before === undefined) return before;
  const complete = `All ${summary.pods === undefined ? 'workloads that can be instrumented are instrumented' : 'pods that can be injected run with the injection'}`;
  return condition(ROLLED_OUT, 'True', { reason: 'Complete', message: complete });
}

export const countedWorkloads = (number: number, one: string, many: string): string =>
  number === 1 ? `1 workload ${one}` : `${number} workloads ${many}`;

export const getName = ({ kind, name }: ObservedWorkload): string => `${kind.kind}/${name}`;

const REPLACE =
  "To replace them, run 'kubectl rollout restart' for their workloads, or delete them. 'lumigo explain' names the pods of a workload";

function podsInWords({ without, isPartial }: PodsSeen): string {
  if (without === 0) return '';
  const run = without === 1 ? '1 pod runs' : `${without} pods run`;
  return `${isPartial ? 'At least ' : ''}${run} without the injection, which new pods get. ${REPLACE}`;
}

const inWords = ({ halted, underWay, queued, blocked, unready, reverted, left, pods, strategy }: RolloutSummary) => [
  halted === undefined ? '' : `The rollout is halted: ${halted}`,
  abridged(reverted.map(toSentence), MAX_NAMES_SHOWN, '. '),
  toRetry(reverted, strategy),
  underWay.length === 0 ? '' : `In progress: ${abridged(underWay.map(getName), MAX_NAMES_SHOWN)}`,
  queued === 0 ? '' : countedWorkloads(queued, 'is queued', 'are queued'),
  abridged(blocked.toSorted((a, b) => order(a) - order(b)).map(waitsFor), MAX_NAMES_SHOWN, '. '),
  abridged(unready.map(runsOlder), MAX_NAMES_SHOWN, '. '),
  left === 0 ? '' : countedWorkloads(left, `is not changed until its ${LATER}`, `are not changed until their ${LATER}`),
  pods === undefined ? '' : podsInWords(pods),
];

/** `lumigo explain` finds a contested one by its name (diagnostics/explain.ts). */
const order = ({ state }: RolloutSummary['blocked'][number]) => Number(state.reason !== 'Contested');

const waitsFor = (each: RolloutSummary['blocked'][number]) =>
  `The operator waits because ${getName(each)} ${blockedTexts[each.state.reason]}`;

const runsOlder = (each: ObservedWorkload) => `${getName(each)} has an older injection, and its pods do not all run`;

function toSentence(reverted: RolloutSummary['reverted'][number]): string {
  const { kind, state } = reverted;
  const { cause, message } = state.evidence;
  const [failed, advice] = !kind.mutable
    ? ['fails with the injection', `. A Job cannot be changed. To run it without, create it again with ${OPT_OUT}`]
    : state.kind === 'reverting'
      ? ['is not reverted yet', '']
      : ['was reverted', kind.kind === 'CronJob' ? RUNS : ''];
  return `${getName(reverted)} ${failed} (${cause}): ${shown(message)}${advice}`;
}

const LATER = 'pod template changes, because of the setting rollout.strategy';
/** With `concurrencyPolicy: Forbid`, a Job that does not end prevents all later ones. */
const RUNS = '. Jobs that it started before keep the injection. Delete those that do not end';
const OPT_OUT = `the label ${labels.autoTrace}: "false"`;

function toRetry(reverted: RolloutSummary['reverted'], strategy: RolloutSummary['strategy']): string {
  const each = reverted.find(({ kind, state }) => kind.mutable && state.kind === 'reverted');
  if (each === undefined) return '';
  const command = `when you run 'kubectl -n ${each.namespace} annotate --overwrite ${each.kind.plural}.${each.kind.group} ${each.name} ${annotations.retry}="$(date)"'`;
  const change = 'The operator tries again when the images change, or with a later change of its pod template';
  if (strategy === 'on-next-change') return change;
  if (strategy === 'manual') return `${change}, or ${command}. After that it also tries again later`;
  return `The operator tries again later, or when the images or the injector change, or ${command}`;
}
