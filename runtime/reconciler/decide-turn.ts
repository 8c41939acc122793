import type { RuntimeConfig } from '../config/config.ts';
import { annotations } from '../contract.ts';
import { none, type Code, type Decision, putRight } from '../injection/decision.ts';
import { equal } from '../injection/lists.ts';
import type { NamespacePolicy, Workload, InjectorSettings } from '../injection/types.ts';
import { templateOf } from '../injection/workload.ts';
import type { Rollout } from '../rollout/rollout.ts';
import { restarts, shapeOf } from '../rollout/shape.ts';
import { subjectOf } from '../injection/frozen.ts';
import { isInjected, uninstrument } from '../injection/remove.ts';
import { noteOf, withNote, withoutNote } from '../injection/rollout-note.ts';
import { stampOf } from '../injection/stamp.ts';
import type { Task } from './rollout-step.ts';

interface TurnInput {
  readonly strategy: RuntimeConfig['rolloutStrategy'];
  readonly decision: Decision;
  /** The workload before the change. */
  readonly workload: Workload;
  readonly policy: NamespacePolicy;
  /** Whether it is its turn. */
  readonly granted: boolean;
  /** By the monotonic clock. */
  readonly now: number;
}

type Turn =
  | { readonly may: 'go' }
  | { readonly may: 'wait'; readonly rollout: Rollout }
  | { readonly may: 'stay'; readonly decision: Decision & { readonly action: 'none' }; readonly rollout: Rollout };

const go: Turn = { may: 'go' };

/** Whether a decided change may be made now. What restarts no pod waits for nobody, and neither does what is taken out. */
export function decideTurn(input: TurnInput): Turn {
  const { strategy, decision, workload, policy, granted, now } = input;
  if (strategy === 'immediate' || decision.action !== 'inject') return go;
  const shape = shapeOf(workload);
  if (!restarts(shape) || equal(templateOf(workload), templateOf(decision.workload))) return go;
  const code = whyLeft(input);
  if (code !== undefined) return { may: 'stay', decision: none(code, workload), rollout: { state: 'left', policy } };
  if (granted && shape.blocked === undefined) return go;
  const { resourceVersion: seenVersion = '' } = workload.metadata;
  return { may: 'wait', rollout: { state: 'queued', policy, shape, granted: false, seenVersion, seenAt: now } };
}

/** Why a workload stays as it is until somebody changes it, where the settings say so. */
function whyLeft({ strategy, workload }: TurnInput): Code | undefined {
  if (strategy === 'on-next-change') return 'waits-for-change';
  const isApproved = workload.metadata.annotations?.[annotations.retry] !== undefined;
  return strategy === 'manual' && !isApproved ? 'waits-for-approval' : undefined;
}

/** What fails with the injection and without it is left in peace for so long before it may be its turn again. */
const PEACE_MS = 10 * 60_000;

/** Where a workload is whose injection was not at fault. */
export function forgiven(workload: Workload, policy: NamespacePolicy, now: number): Rollout {
  const blocked = { reason: 'Unhealthy', message: 'also fails without the injection' } as const;
  const shape = { ...shapeOf(workload), blocked };
  return { state: 'queued', policy, shape, granted: false, seenVersion: '', seenAt: now + PEACE_MS };
}

interface TaskInput {
  readonly task: Task;
  readonly workload: Workload;
  readonly injector: InjectorSettings;
  /** ISO 8601. */
  readonly now: string;
}

/** What a rollout makes of a workload beside injecting it; undefined where the usual decision is asked for, or nothing is left to do. */
export function decideTask(input: TaskInput): Decision | undefined {
  if (input.task.do === 'revert') return revert(input, input.task.evidence);
  return input.task.do === 'forgive' ? forgive(input) : undefined;
}

/** Takes the injection out, exactly, and notes why: for this template and this injection it is not tried again. */
function revert({ workload, injector, now }: TaskInput, evidence: { cause: string; message: string }) {
  const template = templateOf(workload);
  const stamp = stampOf(workload.metadata);
  if (template === undefined || stamp === undefined || !isInjected(template)) return undefined;
  const clean = uninstrument(workload);
  const subject = subjectOf(workload, template, { ...injector, ...stamp.tracing });
  const note = { at: now, cause: evidence.cause, evidence: evidence.message, ...subject };
  const reverted = { ...clean, metadata: withNote(clean.metadata, note) };
  return {
    action: 'remove',
    tried: 'remove',
    workload: reverted,
    code: 'removed',
    message: `The injection is removed because pods failed with it: ${evidence.message}`,
  } as const;
}

function forgive({ workload }: TaskInput): Decision | undefined {
  if (noteOf(workload.metadata) === undefined) return undefined;
  return putRight({ ...workload, metadata: withoutNote(workload.metadata) }, 'forgotten');
}
