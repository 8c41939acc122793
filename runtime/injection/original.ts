import { labels } from '../contract.ts';
import { ourLabel } from './label.ts';
import { readRecord } from './record.ts';
import { isInjected } from './remove.ts';
import { stampOf } from './stamp.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';

/** Whether the original operator made the injection, which left neither record nor stamp, and nobody has adopted it yet. */
export const isOriginals = ({ metadata }: Workload, template: PodTemplate): boolean =>
  ourLabel(metadata) !== undefined &&
  stampOf(metadata) === undefined &&
  readRecord(template) === undefined &&
  isInjected(template);

/**
 * A workload as its user had it, where no Lumigo speaks for its namespace: the original injected there what asked for it by its
 * label, in whose place it put its version. By that it is one that opts in, whose token is let in, that is renewed, and that gets
 * the user's label back on removal.
 */
export const asItOptedIn = (workload: Workload, template: PodTemplate): Workload =>
  isOriginals(workload, template)
    ? {
        ...workload,
        metadata: { ...workload.metadata, labels: { ...workload.metadata.labels, [labels.autoTrace]: 'true' } },
      }
    : workload;
