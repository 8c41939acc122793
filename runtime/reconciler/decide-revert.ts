import type { Decision } from '../injection/decision.ts';
import { isInjected, uninstrument } from '../injection/remove.ts';
import { revertKey } from '../injection/revert-key.ts';
import { withRevert } from '../injection/revert.ts';
import type { Workload } from '../injection/types.ts';
import { templateOf } from '../injection/workload.ts';
import type { Evidence } from '../rollout/evidence.ts';

interface RevertInput {
  readonly workload: Workload;
  readonly evidence: Evidence;
  /** How often an injection of this program was reverted, with this one. */
  readonly attempt: number;
  /** The injector's image. */
  readonly image: string;
  /** ISO 8601. */
  readonly now: string;
}

/** Returns the workload without its injection, and with the reason; undefined where there is none any more. */
export function decideRevert({ workload, evidence, attempt, image, now }: RevertInput): Decision | undefined {
  const template = templateOf(workload);
  if (template === undefined || !isInjected(template)) return undefined;
  const clean = uninstrument(workload);
  const key = revertKey(clean, template, image);
  const { cause, message } = evidence;
  return {
    action: 'remove',
    tried: 'remove',
    workload: { ...clean, metadata: withRevert(clean.metadata, { at: now, cause, attempt, key, evidence: message }) },
    code: 'removed',
    message: `The injection is removed because pods failed with it: ${message}`,
  };
}
