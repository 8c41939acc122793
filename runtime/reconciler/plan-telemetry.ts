import { maxReceived } from '../contract.ts';
import type { NamespacePolicy, TracingSettings } from '../injection/types.ts';
import { isInstrumented, least, type Now, type ObservedWorkload } from './observed.ts';

export interface TelemetrySummary {
  readonly received: number;
  readonly awaited: number;
  /** Nothing arrived since their pods began to run with the injection, which is longer ago than the setting. */
  readonly silent: readonly ObservedWorkload[];
}

export const noTelemetry: TelemetrySummary = { received: 0, awaited: 0, silent: [] };

type Telemetry = Pick<ObservedWorkload, 'telemetry' | 'telemetrySince'>;
const unknownTelemetry: Telemetry = {};

/** Returns the workloads of a namespace whose fact changes, with the new one. */
export function planTelemetry(
  workloads: readonly ObservedWorkload[],
  policy: NamespacePolicy,
  received: ReadonlySet<string>,
  now: Now,
) {
  const isUnsure = isAtLimit(workloads, received);
  return workloads.flatMap((workload) => {
    const after = telemetryAfter(workload, policy, received.has(workload.uid), now);
    const { telemetry, telemetrySince } = isUnsure && after.telemetry === 'NothingYet' ? unknownTelemetry : after;
    const isSame = telemetry === workload.telemetry && telemetrySince === workload.telemetrySince;
    return isSame ? [] : { workload, telemetry, telemetrySince };
  });
}

/** At a limit, `received` may lack a workload that sends. */
const isAtLimit = (workloads: readonly ObservedWorkload[], received: ReadonlySet<string>): boolean =>
  received.size >= maxReceived.inAll ||
  workloads.filter(({ uid }) => received.has(uid)).length >= maxReceived.perNamespace;

/** Returns the next fact about a workload. `arrives`: any replica's telemetry proxy received data from it. */
function telemetryAfter(workload: ObservedWorkload, policy: NamespacePolicy, arrives: boolean, now: Now): Telemetry {
  if (!isInstrumented(workload)) return unknownTelemetry;
  if (policy.kind !== 'active') return workload;
  if (!isExpected(workload, policy.tracing)) return unknownTelemetry;
  if (workload.telemetry === 'Received' && workload.telemetrySince !== undefined) return workload;
  if (arrives) return { telemetry: 'Received', telemetrySince: now.iso };
  return { telemetry: 'NothingYet', telemetrySince: workload.telemetrySince ?? findBegin(workload, now) };
}

const isExpected = (workload: ObservedWorkload, { traces, logs }: TracingSettings): boolean =>
  (traces || logs) && workload.elsewhere === undefined;

/** The time begins when its pods run with the injection. Nothing tells when a Job runs. */
const findBegin = ({ state, kind }: ObservedWorkload, { iso }: Now): string | undefined =>
  state?.kind === 'verified' && kind.group !== 'batch' ? iso : undefined;

/** `wakeAt`: the time when the next workload becomes silent, by the monotonic clock. */
export function summarizeTelemetry(workloads: Iterable<ObservedWorkload>, expectedWithinMs: number, now: Now) {
  const present = [...workloads].filter(({ telemetry, deleting }) => telemetry !== undefined && !deleting);
  const leftMs = ({ telemetrySince: since }: ObservedWorkload): number =>
    since === undefined ? Infinity : Date.parse(since) + expectedWithinMs - Date.parse(now.iso);
  const waiting = present.filter(({ telemetry }) => telemetry === 'NothingYet');
  const silent = waiting.filter((each) => leftMs(each) <= 0);
  const awaited = waiting.filter((each) => leftMs(each) > 0);
  return {
    summary: { received: present.length - waiting.length, awaited: awaited.length, silent },
    wakeAt: now.ms + least(awaited.map(leftMs)),
  };
}
