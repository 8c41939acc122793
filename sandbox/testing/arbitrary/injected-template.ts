import fc from 'fast-check';
import type { PodTemplate } from '../../../runtime/api/objects.ts';
import { injected } from '../injection.ts';
import { podTemplate } from './pod-template.ts';

/** Judges so many templates that can be injected, with their injection. It fails if two of three cannot [F88]. */
export const forEveryInjected = (numRuns: number, judge: (clean: PodTemplate, template: PodTemplate) => void): void =>
  fc.assert(
    fc.property(podTemplate({ unknownFields: true }), (clean) => {
      const template = injected(clean);
      fc.pre(template !== undefined);
      judge(clean, template);
    }),
    { numRuns, maxSkipsPerRun: 2 },
  );
