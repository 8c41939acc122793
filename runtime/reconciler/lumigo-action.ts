import type { LumigoResource, LumigoStatus } from '../injection/types.ts';
import type { Now, ObservedNamespace, PlanSettings } from './observed-namespace.ts';
import type { ObservedWorkload } from './observed.ts';
import type { Progress } from './plan-workloads.ts';

/** One thing to be done to a Lumigo, and why. */
export type LumigoAction =
  | { readonly do: 'adopt'; readonly lumigo: LumigoResource; readonly reason: string }
  | { readonly do: 'add-finalizer'; readonly lumigo: LumigoResource; readonly reason: string }
  | {
      readonly do: 'remove-finalizer';
      readonly lumigo: LumigoResource;
      readonly reason: string;
      /** What stays instrumented because it refuses. */
      readonly leftBehind: readonly ObservedWorkload[];
    }
  | {
      readonly do: 'write-status';
      readonly lumigo: LumigoResource;
      readonly status: LumigoStatus;
      /** Whether the list of instrumented resources is written as well. */
      readonly withList: boolean;
      readonly reason: string;
    };

/** What the plan of a Lumigo takes into account beside itself. */
export interface LumigoContext {
  readonly observed: ObservedNamespace;
  readonly settings: PlanSettings;
  readonly now: Now;
  readonly progress: Progress;
  /** Whether the list in the status has to be written before anything else happens. */
  readonly isListDue: boolean;
  /** Workloads for which something is left to do. */
  readonly waiting: readonly ObservedWorkload[];
}

export interface Planned {
  readonly action?: LumigoAction;
  readonly wakeAt: number;
}
