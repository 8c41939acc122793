import { injector as injectorNames } from '../contract.ts';
import { ourLabel } from '../injection/label.ts';
import { isInjected } from '../injection/remove.ts';
import { revertOf, type Revert } from '../injection/revert.ts';
import { stampOf, stampText, type Stamp } from '../injection/stamp.ts';
import { fingerprint } from '../injection/fingerprint.ts';
import type { Workload } from '../injection/types.ts';
import { templateOf } from '../injection/workload.ts';
import { completionOf } from '../rollout/completion.ts';
import type { Evidence } from '../rollout/evidence.ts';
import type { InjectorHealth } from '../rollout/injector-health.ts';
import { riskOf } from '../rollout/turns.ts';
import type { Observation, Reading } from '../rollout/workload-state.ts';
import type { ObservedWorkload } from './observed.ts';

/** An injection that is older is not judged by a new leader. */
const RECENT_MS = 30 * 60_000;

/** The injector of this installation. */
export interface Installed {
  readonly injector: InjectorHealth;
  readonly image: string;
}

/** Returns what a whole workload shows, as it was read or is about to be. */
export function readingOf(workload: Workload, { injector, image }: Installed): Reading {
  const template = templateOf(workload);
  const own = template?.spec.initContainers?.find(({ name }) => name === injectorNames.container);
  return {
    completion: completionOf(workload),
    template: fingerprint(template),
    isCurrent: own?.image === image,
    risk: riskOf(workload),
    injector,
  };
}

/** Returns what a whole workload, which was read and is as it should be, says of its own state. */
export function observe(
  workload: Workload,
  known: ObservedWorkload,
  installed: Installed,
  epochMs: number,
): Observation {
  const { metadata } = workload;
  const revert = revertOf(metadata);
  if (revert !== undefined) return revertedBefore(workload, revert, epochMs);
  const template = templateOf(workload);
  if (template === undefined || !isInjected(template) || ourLabel(metadata) === undefined) return { kind: 'clean' };
  const reading = readingOf(workload, installed);
  if (known.judged === stampText(metadata)) return { kind: 'status', unchangedSince: known.changedAt ?? 0, ...reading };
  const stamp = stampOf(metadata);
  return stamp !== undefined && isRecent(stamp, epochMs)
    ? { kind: 'injected', attempt: stamp.attempt ?? 0, ...reading }
    : { kind: 'standing', ...reading };
}

const isRecent = ({ change, at }: Stamp, epochMs: number): boolean =>
  change !== 'adopted' && Math.abs(agoMs(at, epochMs) ?? Infinity) <= RECENT_MS;

function revertedBefore(workload: Workload, { cause, evidence, attempt, at }: Revert, epochMs: number): Observation {
  return {
    kind: 'reverted-before',
    evidence: { cause, message: evidence } as Evidence,
    ...{ risk: riskOf(workload), attempt, agoMs: agoMs(at, epochMs) ?? 0 },
  };
}

/** Returns undefined for a text that is no time: a tenant can write the annotation. */
function agoMs(at: string, epochMs: number): number | undefined {
  const time = Date.parse(at);
  return Number.isNaN(time) ? undefined : epochMs - time;
}
