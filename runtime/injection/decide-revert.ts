import type { Decision } from './decision.ts';
import { isInjected, uninstrument } from './remove.ts';
import { revertKey } from './revert-key.ts';
import { withRevert, type Revert } from './revert.ts';
import type { Workload } from '../api/objects.ts';
import { templateOf } from './workload.ts';

interface RevertInput extends Omit<Revert, 'key'> {
  readonly workload: Workload;
  /** The injector's image. */
  readonly image: string;
}

/** Returns the workload without its injection, and with the reason; undefined where there is none any more. */
export function decideRevert({ workload, image, ...reason }: RevertInput): Decision | undefined {
  const template = templateOf(workload);
  if (template === undefined || !isInjected(template)) return undefined;
  const clean = uninstrument(workload);
  const key = revertKey(clean, template, image);
  return {
    action: 'remove',
    tried: 'remove',
    workload: { ...clean, metadata: withRevert(clean.metadata, { ...reason, key }) },
    code: 'removed',
    message: `The injection is removed because pods failed with it: ${reason.evidence}`,
  };
}
