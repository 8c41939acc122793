import type { InstrumentedResource } from '../api/lumigo.ts';
import { maxReceived } from '../contract.ts';
import type { NamespacePolicy, TracingSettings } from '../injection/types.ts';
import { isInstrumented, type Now, type ObservedWorkload, type Telemetry } from './observed.ts';

export interface TelemetrySummary {
  readonly received: number;
  readonly awaited: number;
  /** Nothing arrived from them, although their pods have run with the injection for the time of the setting. */
  readonly silent: readonly ObservedWorkload[];
}

export const noTelemetry: TelemetrySummary = { received: 0, awaited: 0, silent: [] };

/** Returns what an earlier leader knew of a workload. */
export function telemetryIn({ telemetry: kind, telemetrySince: since }: InstrumentedResource): Telemetry | undefined {
  if (kind === 'Received' && since !== undefined) return { kind, since };
  return kind === 'NothingYet' ? { kind, ...(since === undefined ? {} : { since }) } : undefined;
}

const nothingYet: Telemetry = { kind: 'NothingYet' };

/** At a limit, `received` may lack a workload that sends. `workloads`: all of one namespace. */
export const isAtLimit = (workloads: readonly ObservedWorkload[], received: ReadonlySet<string>): boolean =>
  received.size >= maxReceived.inAll ||
  workloads.filter(({ uid }) => received.has(uid)).length >= maxReceived.perNamespace;

/** Returns the next fact about a workload. `received`: the uids that any replica's telemetry proxy received data from. */
export function telemetryAfter(
  workload: ObservedWorkload,
  policy: NamespacePolicy,
  received: ReadonlySet<string>,
  now: Now,
): Telemetry | undefined {
  const { telemetry: before, uid } = workload;
  if (!isInstrumented(workload)) return undefined;
  if (policy.kind !== 'active') return before;
  if (!isExpected(workload, policy.tracing)) return undefined;
  if (before?.kind === 'Received') return before;
  return received.has(uid) ? { kind: 'Received', since: now.iso } : getSilence(workload, now);
}

const isExpected = (workload: ObservedWorkload, { traces, logs }: TracingSettings): boolean =>
  (traces || logs) && workload.elsewhere === undefined;

/** The time begins when its pods run with the injection, and does not begin again. Nothing tells when a Job runs. */
function getSilence({ telemetry = nothingYet, state, kind }: ObservedWorkload, { iso }: Now): Telemetry {
  const begins = telemetry.since === undefined && state?.kind === 'verified' && kind.group !== 'batch';
  return begins ? { kind: 'NothingYet', since: iso } : telemetry;
}

/** `wakeAt`: the time when the next workload becomes silent, by the monotonic clock. */
export function summarizeTelemetry(
  workloads: Iterable<ObservedWorkload>,
  expectedWithinMs: number,
  now: Now,
): { readonly summary: TelemetrySummary; readonly wakeAt: number } {
  const present = [...workloads].filter(({ telemetry, deleting }) => telemetry !== undefined && !deleting);
  const leftMs = ({ telemetry }: ObservedWorkload): number =>
    telemetry?.since === undefined ? Infinity : Date.parse(telemetry.since) + expectedWithinMs - Date.parse(now.iso);
  const waiting = present.filter(({ telemetry }) => telemetry?.kind === 'NothingYet');
  const silent = waiting.filter((each) => leftMs(each) <= 0);
  const awaited = waiting.filter((each) => leftMs(each) > 0);
  return {
    summary: { received: present.length - waiting.length, awaited: awaited.length, silent },
    wakeAt: now.ms + Math.min(Infinity, ...awaited.map(leftMs)),
  };
}
