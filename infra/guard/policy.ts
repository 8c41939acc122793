import type { Cel } from '../constructs/cel.ts';

export interface Rule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
  readonly operations: readonly ('CREATE' | 'UPDATE')[];
  readonly resourceNames?: readonly string[];
}

/** A condition that each write of the manager's account must meet. */
export interface Validation {
  /** Completes the sentence that the API server answers otherwise: "The guard lets the Lumigo operator …". */
  readonly may: string;
  readonly expression: Cel;
}

/** A policy about writes of the manager's account. */
export interface Policy {
  /** The end of the name. */
  readonly suffix: string;
  readonly rules: readonly Rule[];
  /** The namespace of the objects; left out: all. */
  readonly namespace?: string;
  /** By name. An expression may use those before it as `variables.NAME`. */
  readonly variables: Readonly<Record<string, Cel>>;
  readonly validations: readonly Validation[];
}
