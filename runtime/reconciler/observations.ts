import { ourLabel } from '../injection/label.ts';
import { isInjected } from '../injection/remove.ts';
import { revertOf } from '../injection/revert.ts';
import { stampOf, stampText } from '../injection/stamp.ts';
import { fingerprint } from '../injection/fingerprint.ts';
import type { Workload } from '../injection/types.ts';
import { templateOf } from '../injection/workload.ts';
import { completionOf } from '../rollout/completion.ts';
import type { Evidence } from '../rollout/evidence.ts';
import type { InjectorHealth } from '../rollout/injector-health.ts';
import { riskOf } from '../rollout/turns.ts';
import type { Observation, Reading } from '../rollout/workload-state.ts';
import type { ObservedWorkload } from './observed.ts';

/** An injection that an earlier leader, or the webhook, wrote so long ago is not judged any more. */
const RECENT_MS = 30 * 60_000;

/** Returns what a whole workload shows, as it was read or is about to be. */
export const readingOf = (workload: Workload, injector: InjectorHealth): Reading => ({
  completion: completionOf(workload),
  template: fingerprint(templateOf(workload)),
  risk: riskOf(workload),
  injector,
});

/** Returns what a whole workload, which was read and is as it should be, says of its own state. */
export function observe(
  workload: Workload,
  known: ObservedWorkload,
  injector: InjectorHealth,
  epochMs: number,
): Observation {
  const { metadata } = workload;
  const revert = revertOf(metadata);
  if (revert !== undefined) {
    const { cause, evidence: message, attempt, at } = revert;
    const evidence = { cause, message } as Evidence;
    return { kind: 'reverted-before', evidence, risk: riskOf(workload), attempt, agoMs: agoMs(at, epochMs) ?? 0 };
  }
  const template = templateOf(workload);
  if (template === undefined || !isInjected(template) || ourLabel(metadata) === undefined) return { kind: 'clean' };
  const reading = readingOf(workload, injector);
  if (known.judged === stampText(metadata)) return { kind: 'status', unchangedSince: known.changedAt ?? 0, ...reading };
  const stamp = stampOf(metadata);
  const ago = stamp === undefined || stamp.change === 'adopted' ? undefined : agoMs(stamp.at, epochMs);
  const isRecent = ago !== undefined && Math.abs(ago) <= RECENT_MS;
  return isRecent ? { kind: 'injected', attempt: stamp?.attempt ?? 0, ...reading } : { kind: 'standing', ...reading };
}

/** Anybody can write an annotation: undefined for a text that is no time. */
function agoMs(at: string, epochMs: number): number | undefined {
  const time = Date.parse(at);
  return Number.isNaN(time) ? undefined : epochMs - time;
}
