import type { Expressions } from '../constructs/admission.ts';
import type { Cel } from '../constructs/cel.ts';

export interface Rule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
  readonly operations: readonly ('CREATE' | 'UPDATE')[];
  readonly resourceNames?: readonly string[];
}

export interface Validation {
  /** Completes the sentence "The guard lets the Lumigo operator …" of a refusal. */
  readonly may: string;
  readonly expression: Cel;
}

export interface Policy {
  readonly suffix: string;
  readonly rules: readonly Rule[];
  /** The namespace of the objects. Default: all. */
  readonly namespace?: string;
  readonly variables: Expressions;
  readonly validations: readonly Validation[];
}
