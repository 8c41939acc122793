import type { Condition, InstrumentedResource, LumigoStatus, Problem } from '../api/lumigo.ts';
import { getReadyConditions, type Known, type ReadyInput } from './conditions-ready.ts';
import { condition, getName, MAX_NAMES_SHOWN, ROLLED_OUT, rolloutCondition } from './conditions-rollout.ts';
import { countedWorkloads, type Untimed } from './conditions-rollout.ts';
import { describeProblem } from './describe-events.ts';
import { silenceChecks } from '../injection/remedies.ts';
import type { ObservedNamespace } from './observed.ts';
import type { TelemetrySummary } from './plan-telemetry.ts';
import type { RolloutPlan } from './plan-rollout.ts';
import type { Progress } from './plan-workloads.ts';
import { abridged } from '../wording/abridged.ts';
import { withoutTokens } from '../wording/token.ts';

export interface StatusInput extends ReadyInput, Partial<Pick<ObservedNamespace, 'webhook' | 'telemetry'>> {
  readonly token: ObservedNamespace['token'];
  readonly summary: RolloutPlan['summary'];
  readonly report?: RolloutPlan['report'];
  readonly podPolicy?: Problem | 'working' | undefined;
  readonly progress: Progress;
  readonly received: TelemetrySummary;
  readonly instrumented: readonly InstrumentedResource[];
  readonly secretVersion?: string | undefined;
}

/** Returns a `Lumigo`'s status. A condition keeps its time while its status stays, so the same input writes nothing. */
export function getStatus(input: StatusInput, current: LumigoStatus | undefined): LumigoStatus {
  const { metadata, progress, report, instrumented, secretVersion = current?.secretVersion } = input;
  const known: Known = new Map(current?.conditions?.map((each) => [each.type, each]));
  const observedGeneration = metadata.generation === undefined ? {} : { observedGeneration: metadata.generation };
  const conditions = toConditions(input, known).map((each) => {
    const before = known.get(each.type);
    const lastTransitionTime = before?.status === each.status ? before.lastTransitionTime : input.now;
    return { ...observedGeneration, ...each, message: withoutTokens(each.message), lastTransitionTime };
  });
  return {
    conditions,
    instrumentedResources: instrumented,
    instrumentedResourcesCount: progress.instrumented,
    ...(report === undefined ? {} : { injector: report }),
    ...(secretVersion === undefined ? {} : { secretVersion }),
    ...observedGeneration,
  };
}

function toConditions(input: StatusInput, known: Known): Untimed[] {
  const { problem, webhook, telemetry, podPolicy, needed } = input;
  const conditions = [
    activeCondition(input),
    condition('Error', problem === undefined ? 'False' : 'True', problem ?? { reason: 'NoError', message: '' }),
    needed.includes('WebhookReachable') ? latest(webhook, good.webhook, known) : [],
    needed.includes('PodPolicyInstalled') ? latest(podPolicy, good.podPolicy, known) : [],
    latest(telemetry, good.telemetry, known),
    rolledOut(input, known.get(ROLLED_OUT)),
    onceThereWas(elsewhereIn(input), good.injections, known),
    problem === undefined ? latest(tokenSeen(input), good.token, known) : [],
    telemetryConditions(input.received),
  ].flatMap((each) => each ?? []);
  return [...getReadyConditions(input, conditions, known), ...conditions];
}

function rolledOut(input: StatusInput, before: Untimed | undefined) {
  const { progress, summary, needed } = input;
  const isOpen = !isOff(input) && (summary.pods?.isPartial ?? needed.includes('PodPolicyInstalled'));
  const now = rolloutCondition(summary, before, progress.pending === 0 && !isOpen);
  return isOff(input) && now?.status === 'True' ? condition(ROLLED_OUT, 'Unknown', stopped) : now;
}

const stopped = { reason: 'Stopped', message: 'No further workload is instrumented' } as const;

const isOff = ({ problem, metadata, needed }: StatusInput): boolean =>
  (problem ?? metadata.deletionTimestamp) !== undefined || needed.every((type) => type === 'TokenAccepted');

/** A result for an earlier spec may be about another token. */
const tokenSeen = ({ token, metadata }: StatusInput) =>
  token.generation === metadata.generation ? token.accepted : undefined;

function activeCondition({ metadata, problem, progress }: StatusInput): Untimed {
  const soFar = inWords(progress);
  const deleting = { reason: 'Deleting', message: `This Lumigo resource is being deleted${soFar}` } as const;
  const broken = "This Lumigo resource has an error, see the 'Error' condition";
  if (metadata.deletionTimestamp !== undefined) return condition('Active', 'False', deleting);
  if (problem !== undefined) return condition('Active', 'False', { reason: problem.reason, message: broken });
  return condition('Active', 'True', { reason: 'Ready', message: `Lumigo is ready${soFar}` });
}

/** Empty until telemetry arrives, or a workload is silent for too long. */
export function telemetryConditions({ received, silent }: TelemetrySummary): Untimed[] {
  const missing = `No telemetry arrives from ${abridged(silent.map(getName), MAX_NAMES_SHOWN)}. Check each of them. ${silenceChecks}`;
  if (silent.length > 0)
    return [condition('TelemetryReceived', 'False', { reason: 'NothingReceived', message: missing })];
  const message = 'Telemetry arrives from the workloads whose pods have run with the injection for long enough';
  return received === 0 ? [] : [condition('TelemetryReceived', 'True', { reason: 'Received', message })];
}

const REACHES = 'The API server reaches the injector webhook';
const COLLECTS = 'The telemetry proxy collects all telemetry that the Lumigo resources request';
const CURRENT = "Every injected workload sends to this installation's telemetry proxy";
const INSTALLED = 'The API server injects new pods by a policy';
const good = {
  webhook: condition('WebhookReachable', 'True', { reason: 'ProbeSucceeded', message: REACHES }),
  telemetry: condition('TelemetryProxyReady', 'True', { reason: 'ConfigurationTaken', message: COLLECTS }),
  injections: condition('InjectionsCurrent', 'True', { reason: 'Current', message: CURRENT }),
  token: condition('TokenAccepted', 'True', { reason: 'Accepted', message: "Lumigo's endpoint accepts the token" }),
  podPolicy: condition('PodPolicyInstalled', 'True', { reason: 'Installed', message: INSTALLED }),
};

const OTHER_PROXY =
  "to an address that is not this installation's telemetry proxy. The operator renews the injection when the pod template changes, or at once with the setting injection.updateOnUpgrade";

/** After a rename or move of the operator, the Service of these injections may no longer exist. */
function elsewhereIn(input: StatusInput): Problem | 'working' | undefined {
  const { elsewhere, pending, instrumented } = input.progress;
  const message = `${countedWorkloads(elsewhere, 'sends', 'send')} telemetry ${OTHER_PROXY}`;
  // Only decisions under an active Lumigo read where injections send to.
  if (pending > 0 || (isOff(input) && elsewhere === 0 && instrumented > 0)) return undefined;
  return elsewhere === 0 ? 'working' : { reason: 'OtherEndpoint', message };
}

const observed = (seen: Problem | 'working', good: Untimed): Untimed =>
  seen === 'working' ? good : { ...good, status: 'False', reason: seen.reason, message: seen.message };

/** Returns a condition that keeps its value and generation until something is seen. */
const latest = (seen: Problem | 'working' | undefined, good: Untimed, known: Known): Untimed | undefined =>
  seen === undefined ? known.get(good.type) : observed(seen, good);

/** Returns a condition that appears with its first problem. */
const onceThereWas = (seen: Problem | 'working' | undefined, good: Untimed, known: Known): Untimed | undefined =>
  latest(seen === 'working' && !known.has(good.type) ? undefined : seen, good, known);

const OLDER =
  'an injection from another operator version (renewed when the pod template changes, or at once with injection.updateOnUpgrade)';
const waits = [
  ['pending', 'waits', 'wait', 'for a change'],
  ['failed', 'could', 'could', 'not be changed and will be retried'],
  ['contested', 'is', 'are', "changed back by another writer after each change (see 'lumigo explain')"],
  ['older', 'has', 'have', OLDER],
  ['tooLarge', 'exceeds', 'exceed', "the size limit and will not be changed (see 'lumigo explain')"],
] as const;

/** Has a problem as well, because the event about it is posted once, and Kubernetes deletes it after an hour. */
function inWords({ firstFailed: first, ...progress }: Progress): string {
  const counts = waits
    .filter(([number]) => progress[number] > 0)
    .map(([number, one, many, what]) => `. ${countedWorkloads(progress[number], one, many)} ${what}`);
  const problem = first?.failure && `. The problem of ${getName(first)}: ${describeProblem(first.failure)}`;
  return [...counts, problem].join('');
}

/** Returns the most important difference of two statuses; undefined for none. Times do not count. */
export function findDifference(a: LumigoStatus, b: LumigoStatus): 'state' | 'text' | 'list' | undefined {
  const isSame = (...keys: readonly (keyof Condition)[]) => sameList(a.conditions, b.conditions, keys);
  const isSameState =
    a.injector?.health === b.injector?.health &&
    sameList([a], [b], ['observedGeneration', 'secretVersion']) &&
    isSame('type', 'status', 'reason', 'observedGeneration');
  if (!isSameState) return 'state';
  if (a.instrumentedResourcesCount !== b.instrumentedResourcesCount || !isSame('message')) return 'text';
  return sameList(a.instrumentedResources, b.instrumentedResources, shownFields) ? undefined : 'list';
}

export const identity = ['kind', 'name', 'uid', 'resourceVersion'] as const;
export const shownFields = [...identity, 'state', 'telemetry', 'telemetrySince'] as const;

export const sameList = <T>(a: readonly T[] = [], b: readonly T[] = [], keys: readonly (keyof T)[]): boolean =>
  a.length === b.length && a.every((item, index) => keys.every((key) => item[key] === b[index]?.[key]));
