import { oneOf, section, wholeNumber } from './leaves.ts';

/** How workloads that exist already are changed, and how many at once. */
export const rollout = section({
  strategy: oneOf('progressive', 'immediate', 'on-next-change', 'manual')
    .default('progressive')
    .describe(
      'How workloads that exist already are instrumented, which restarts their pods: `progressive` (one first, then more as their ' +
        'pods run well; what breaks is put back), `immediate` (all at once, and nothing is put back), `on-next-change` (when their ' +
        'pod template changes anyway) or `manual` (so, or once they have the annotation `lumigo.retry`). See docs/use/rollout.md.',
    ),
  soakSeconds: wholeNumber(0, 86_400)
    .default(10)
    .describe('How long all pods of a workload are to be ready with the injection before the next workloads get it.'),
  deadlineSeconds: wholeNumber(10, 86_400)
    .default(300)
    .describe('How long no further pod of a changed workload may become ready until the workload is put back.'),
  largestWave: wholeNumber(1, 1_000)
    .default(50)
    .describe('How many workloads of one namespace get the injection together, at most; the first goes alone.'),
  concurrent: wholeNumber(1, 256).default(16).describe('How many workloads may be written at once in all namespaces.'),
  concurrentPerNamespace: wholeNumber(1, 256)
    .default(16)
    .describe('How many workloads may be written at once in one namespace.'),
  settleSeconds: wholeNumber(0, 3600)
    .default(0)
    .describe('How long a written workload keeps its place among those: a pace for `immediate`, and for removals.'),
});
