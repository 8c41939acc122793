import { putRight, type Decision } from '../injection/decision.ts';
import { subjectOf } from '../injection/frozen.ts';
import { isInjected, uninstrument } from '../injection/remove.ts';
import { noteOf, withNote, withoutNote } from '../injection/rollout-note.ts';
import { stampOf } from '../injection/stamp.ts';
import type { InjectorSettings, Workload } from '../injection/types.ts';
import { templateOf } from '../injection/workload.ts';
import type { Task } from './plan-rollout.ts';

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
    workload: reverted,
    code: 'removed',
    message: `It is put back: ${evidence.message}`,
  } as const;
}

function forgive({ workload }: TaskInput): Decision | undefined {
  if (noteOf(workload.metadata) === undefined) return undefined;
  return putRight({ ...workload, metadata: withoutNote(workload.metadata) }, 'forgotten');
}
