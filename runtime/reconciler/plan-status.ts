import type { LumigoStatus } from '../injection/types.ts';
import { sameConditions, sameStatus, statusOf, type StatusInput } from './conditions.ts';
import { listInstrumented } from './instrumented.ts';
import type { LumigoContext, Planned } from './lumigo-action.ts';
import type { ObservedLumigo } from './observed-namespace.ts';
import { problemOf } from './problems.ts';
import type { Progress } from './plan-workloads.ts';

/** A status that differs by its numbers only is written so often at the most. */
const STATUS_MS = 1_000;

/** What the status of a Lumigo should say by now, where it says something else. */
export function planStatus(
  lumigo: ObservedLumigo,
  acting: ObservedLumigo | undefined,
  context: LumigoContext,
): Planned {
  const { resource, listed = [], statusAt } = lumigo;
  const acts = lumigo === acting;
  if (acts && !canBeSaid(lumigo, context)) return { wakeAt: Infinity };
  const withList = acts && isListWorthIt(context);
  const instrumented = withList ? listInstrumented(context.observed.workloads) : listed;
  const seen = acts ? seenOf(lumigo, context) : nothingSeen;
  const status = statusOf({ ...seen, ...factsOf(lumigo, acting, context), instrumented }, resource.status);
  const current = { ...resource.status, instrumentedResources: listed };
  if (sameStatus(current, status)) return { wakeAt: Infinity };
  const dueAt = isUrgent(current, status, context) ? 0 : statusAt + STATUS_MS;
  if (dueAt > context.now.ms) return { wakeAt: dueAt };
  const reason = 'it says something else than what is seen';
  return { action: { do: 'write-status', lumigo: resource, status, withList, reason }, wakeAt: Infinity };
}

const isUrgent = (current: LumigoStatus, status: LumigoStatus, { isListDue }: LumigoContext): boolean =>
  isListDue || !sameConditions(current, status);

/** The list is the one large part of a status: it is written where nothing is under way and all that was done is told, or where it is due. */
const isListWorthIt = ({ progress, observed, isListDue }: LumigoContext): boolean =>
  isListDue || (progress.pending === 0 && observed.untold === 0);

/** Without a look at its Secret nothing can be said of a Lumigo that is to act. */
const canBeSaid = ({ resource }: ObservedLumigo, { observed }: LumigoContext): boolean =>
  observed.credential !== undefined ||
  observed.policy.state === 'excluded' ||
  resource.metadata.deletionTimestamp !== undefined;

type Seen = Pick<StatusInput, 'progress' | 'secretVersion' | 'webhook' | 'telemetry'>;

const seenOf = ({ dropsSecretVersion }: ObservedLumigo, { observed, progress }: LumigoContext): Seen => ({
  progress,
  secretVersion: dropsSecretVersion ? undefined : observed.credential?.version,
  webhook: observed.webhook,
  telemetry: observed.telemetry,
});

/** One that does not act is told nothing of the namespace. */
const noProgress: Progress = { pending: 0, failed: 0, contested: 0, instrumented: 0, elsewhere: 0 };
const nothingSeen: Seen = { progress: noProgress, secretVersion: undefined, webhook: undefined, telemetry: undefined };

function factsOf(
  { resource }: ObservedLumigo,
  acting: ObservedLumigo | undefined,
  { observed, now }: LumigoContext,
): Pick<StatusInput, 'generation' | 'deleting' | 'problem' | 'now'> {
  const { generation, deletionTimestamp } = resource.metadata;
  const isExcluded = observed.policy.state === 'excluded';
  return {
    generation,
    deleting: deletionTimestamp !== undefined,
    problem: problemOf(resource, { acting: acting?.resource, isExcluded, credential: observed.credential?.problem }),
    now: now.iso,
  };
}
