import { ourLabel } from './label.ts';
import { isInjected, remove } from './remove.ts';
import { stampOf, unstamp } from './stamp.ts';
import type { Workload } from './types.ts';
import { templateOf, withTemplate } from './workload.ts';

/** Whether a workload carries anything of ours: an injection, our stamp or our label. */
export function isTouched(workload: Workload): boolean {
  const template = templateOf(workload);
  return (
    (template !== undefined && isInjected(template)) ||
    stampOf(workload.metadata) !== undefined ||
    ourLabel(workload.metadata) !== undefined
  );
}

/** The workload as it was before this operator touched it. */
export function uninstrument(workload: Workload): Workload {
  const template = templateOf(workload);
  const metadata = unstamp(workload.metadata);
  const clean = template === undefined ? workload : withTemplate(workload, remove(template));
  return { ...clean, metadata };
}
