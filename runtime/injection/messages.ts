import { labels } from '../contract.ts';

/** Every outcome of a decision: a code for programs and tests, a sentence for people. */
export const messages = {
  deleted: () => 'Nothing is injected on deletions; resource will not be mutated',
  deleting: () => 'The resource is being deleted; it will not be mutated',
  'other-kind': (kind: string) => `Resources of type ${kind} are not instrumented; resource will not be mutated`,
  'no-template': () => 'The resource has no pod template; it will not be mutated',
  'job-update': () => "A Job's pod template cannot change once the Job exists; resource will not be mutated",
  'opted-out': () => `the resource has the '${labels.autoTrace}' label set to 'false'; resource will not be mutated`,
  'left-to-owner': (owner: string) =>
    `The resource belongs to ${owner}, which decides its pod template; resource will not be mutated`,
  excluded: (namespace: string) => `The '${namespace}' namespace is never instrumented; resource will not be mutated`,
  windows: () => 'Pods on Windows are not instrumented; resource will not be mutated',
  'no-lumigo': (namespace: string) =>
    `No Lumigo configuration for the '${namespace}' namespace; resource will not be mutated`,
  disabled: (namespace: string) =>
    `Tracing injection is disabled in the '${namespace}' namespace; resource will not be mutated`,
  inactive: (namespace: string, reason: string) =>
    `The Lumigo in the '${namespace}' namespace is not active (${reason}); resource will not be mutated`,
  'lumigo-deleting': (namespace: string) =>
    `The Lumigo in the '${namespace}' namespace is being deleted; resource will not be mutated`,
  'existing-left': () => 'The resource is older than the Lumigo, which leaves existing resources as they are',
  'up-to-date': () => 'The injection is in place and up to date',
  refused: (reason: string) => `Lumigo instrumentation cannot be added: ${reason}`,
  'job-immutable': () =>
    "A Job's pod template cannot change once the Job exists; its next run, created anew, is instrumented",
  'job-immutable-removal': () =>
    "A Job's pod template cannot change once the Job exists; the injection stays until the Job is gone",
  'job-finished': () => 'The Job is finished; resource will not be mutated',
  injected: (namespace: string) => `Injected, as the Lumigo in the '${namespace}' namespace asks`,
  'opted-in': () => `Injected, as the resource's own labels ask ('${labels.autoTrace}' is 'true')`,
  'left-behind': (namespace: string) =>
    `There is no Lumigo in the '${namespace}' namespace any more, and the resource does not ask for itself`,
  kept: (namespace: string) => `The injection stays, as the Lumigo in the '${namespace}' namespace asks`,
  restored: () => 'The pod template is unchanged; its injection stays as it was',
  relabelled: () => 'The injection is in place; its label was restored',
  removed: () => 'The injection is removed',
} as const;

export type Code = keyof typeof messages;

/** A code and the sentence that goes with it. */
export type Outcome = readonly [code: Code, message: string];
