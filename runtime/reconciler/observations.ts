import { ourLabel } from '../injection/label.ts';
import { hasInjection } from '../injection/remove.ts';
import { findRevert } from '../injection/revert.ts';
import { getInjectionStatus, injectionStatusText, isSameChange } from '../injection/injection-status.ts';
import { parseInjectionStatus, type InjectionStatus } from '../injection/injection-status.ts';
import { fingerprint } from '../injection/fingerprint.ts';
import type { Metadata, Workload } from '../api/objects.ts';
import { toTemplate } from '../injection/workload.ts';
import { getCompletion } from '../rollout/completion.ts';
import { findInjector } from '../injection/init-container.ts';
import { getOriginalState } from '../injection/original-state.ts';
import type { Evidence } from '../rollout/evidence.ts';
import { getRisk } from '../rollout/batches.ts';
import type { Observation, Reading, WorkloadState } from '../rollout/workload-state.ts';
import type { Facts, ObservedWorkload } from './observed.ts';

/** A new leader does not judge an older injection. */
const RECENT_MS = 30 * 60_000;

export interface CurrentInjector extends Pick<Reading, 'injector'> {
  readonly image: string;
  /** A workload of the namespace is about to show if the injector works. */
  readonly isTrying: boolean;
}

export function classifyWorkload(workload: Workload, { injector, image }: Omit<CurrentInjector, 'isTrying'>): Reading {
  const template = toTemplate(workload);
  const isCurrent = template !== undefined && getOriginalState(template)?.image === image;
  const isLocal = findInjector(template?.spec)?.image !== image;
  const completion = getCompletion(workload);
  const risk = getRisk(workload);
  return { completion, template: fingerprint(template), isCurrent, isLocal, risk, injector };
}

/** The controller of a StatefulSet waits for broken pods without end. */
export const mayHang = ({ kind }: Workload): boolean => kind === 'StatefulSet';

/** Another writer may remove the label or the annotation alone. */
const hasTrace = (metadata: Metadata) => (getInjectionStatus(metadata) ?? ourLabel(metadata)) !== undefined;

export function observe(
  workload: Workload,
  known: Pick<ObservedWorkload, 'judged' | 'changedAt' | 'state'> & Pick<Reading, 'isOwn'>,
  installed: CurrentInjector,
  epochMs: number,
): Observation {
  const { metadata } = workload;
  const revert = findRevert(metadata);
  if (revert !== undefined) {
    const { attempt, at, cause, evidence: message } = revert;
    const evidence = { cause, message } as Evidence;
    const agoMs = epochMs - parseTime(at, epochMs);
    return { kind: 'reverted-before', evidence, risk: getRisk(workload), attempt, agoMs, mayHang: mayHang(workload) };
  }
  if (!hasInjection(workload) || !hasTrace(metadata)) return { kind: 'clean', mayHang: mayHang(workload) };
  const injectionStatus = getInjectionStatus(metadata);
  const reading = { ...classifyWorkload(workload, installed), isOwn: known.isOwn };
  const isNew = !isSameChange(known.judged, injectionStatusText(metadata)) && isRecent(injectionStatus, epochMs);
  const seen: Observation = isNew
    ? { kind: 'injected', attempt: injectionStatus?.attempt ?? 0, ...reading }
    : { kind: 'status', unchangedSince: known.changedAt ?? 0, ...reading };
  return workload.kind === 'Job' ? observeJob(seen, known.state, installed) : seen;
}

/** A Job keeps its injection. One at a time is looked at, while it is open if the injector runs. */
function observeJob(seen: Observation, state: WorkloadState | undefined, { injector, isTrying }: CurrentInjector) {
  if (state?.kind === 'reverting') return { kind: 'kept' } as const;
  const isOpen = seen.kind === 'injected' && !isTrying && injector !== 'verified' && injector !== 'failing';
  return state === undefined && !isOpen ? ({ kind: 'clean' } as const) : seen;
}

/** A new leader need not read an older injection of a Job, which can neither be judged nor change. */
export const judgedBefore = ({ kind, injectionStatus }: ObservedWorkload, epochMs: number): Facts =>
  kind.mutable || isRecent(parseInjectionStatus(injectionStatus), epochMs) ? {} : { judged: injectionStatus };

const isRecent = (found: InjectionStatus | undefined, epochMs: number): boolean =>
  found !== undefined && found.change !== 'adopted' && Math.abs(epochMs - parseTime(found.at, -Infinity)) <= RECENT_MS;

/** Returns `fallback` for invalid text, because a tenant can write the annotation. */
const parseTime = (at: string, fallback: number): number => (Number.isNaN(Date.parse(at)) ? fallback : Date.parse(at));
