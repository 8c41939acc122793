import { oneOf, section, wholeNumber } from './leaves.ts';

export const rollout = section({
  strategy: oneOf('progressive', 'immediate', 'on-next-change', 'manual')
    .default('progressive')
    .describe(
      'How the operator instruments existing workloads, which restarts their pods. `progressive`: one first, then more while their ' +
        'pods run well; workloads that fail are reverted. `immediate`: all at once, and none is reverted. `on-next-change`: when their ' +
        'pod template next changes. `manual`: then, or when you set the annotation `lumigo.retry`. See docs/use/rollout.md.',
    ),
  soakSeconds: wholeNumber(0, 86_400)
    .default(10)
    .describe('How long all pods of a workload must be ready with the injection before the next workloads get it.'),
  deadlineSeconds: wholeNumber(10, 86_400)
    .default(300)
    .describe('How long to wait for the next pod of a changed workload to become ready before reverting the workload.'),
  largestBatch: wholeNumber(1, 1_000)
    .default(50)
    .describe(
      'Maximum number of workloads of one namespace that get the injection together. The first one is always alone.',
    ),
  concurrent: wholeNumber(1, 256)
    .default(16)
    .describe('Maximum number of workloads that the operator changes at the same time in the cluster.'),
  concurrentPerNamespace: wholeNumber(1, 256)
    .default(16)
    .describe('Maximum number of workloads that the operator changes at the same time in one namespace.'),
  settleSeconds: wholeNumber(0, 3600)
    .default(0)
    .describe(
      'How long a changed workload counts as being changed. It sets the pace of `immediate` rollouts and of removals.',
    ),
});
