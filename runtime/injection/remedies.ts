import type { Code } from './decision.ts';

/** The decisions that leave a workload without the injection, and the remedy of each. `lumigo explain` shows it. */
export const remedies: Readonly<Partial<Record<Code, string>>> = {
  'opted-out': 'Remove the label.',
  excluded: 'Move the workload, or remove the namespace from `webhook.excludedNamespaces` if it is there.',
  'no-lumigo': 'Create a `Lumigo` resource in the namespace, or opt the workload in.',
  inactive: 'Read its condition `Error`. If the resource has no conditions, no operator acts: run `lumigo check`.',
  'not-selected': 'Change its labels, or `spec.tracing.injection.selector` of the `Lumigo` resource.',
  disabled: 'Set `spec.tracing.injection.enabled: true` in the `Lumigo` resource.',
  'lumigo-deleting': 'Create a `Lumigo` resource again when this one is deleted.',
  'pod-mode': 'Restart the workload: its new pods are injected.',
  'no-pod-mode': 'Set `spec.tracing.injection.mode: Pod`, or look at the workload of the pod.',
  'left-to-owner': 'Look at the owner, which sets the template. If its kind is not instrumented, use Pod mode.',
  'existing-left': 'Change its pod template, or set `injectLumigoIntoExistingResourcesOnCreation: true`.',
  'other-kind': 'Instrument the workload that this kind creates.',
  'no-template': 'Instrument the Deployment that it refers to, or correct its template, such as an empty item.',
  'mirror-pod': 'Run the program as a workload of the API server.',
  windows: 'None: there is no injector for Windows.',
  architecture: 'Run it on amd64 or arm64.',
  'too-large': 'Make the object smaller, such as its variables and annotations.',
  refused: 'Fix the cause in the message.',
  reverted: 'Fix the cause, then set the annotation `lumigo.retry` to a new value.',
  'injector-failing':
    'Fix the injector, such as its image, then retry a reverted workload. Or change the policy that refuses it.',
  'injector-unverified': 'Wait: another workload shows within minutes if the injector runs.',
  'job-immutable': 'Create the Job again.',
  'job-finished': 'None: its pods have ended.',
};

/** Checks for a workload that has the injection and sends nothing, for its condition and `lumigo explain`. */
export const silenceChecks =
  "(1) Do its containers run Node.js, Python or Java, linked dynamically? (2) Does 'envFrom' or the image set LD_PRELOAD? (3) Does a NetworkPolicy block the telemetry proxy? (4) Does the pod have the current token? (5) Was it scaled to zero? See docs/use/telemetry.md";
