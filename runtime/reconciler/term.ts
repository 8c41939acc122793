import type { Logger } from 'pino';
import type { RuntimeConfig } from '../config/config.ts';
import type { CatchUp } from '../kubernetes/watch/catch-up.ts';
import type { LumigoStore } from '../lumigo/lumigo-store.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { ReconcilerApi } from './api.ts';
import type { EventQueue } from './event-queue.ts';
import type { WorkloadStore } from './workload-store.ts';

/** What everything that works for one term of this replica's leadership shares. */
export interface Term {
  readonly config: RuntimeConfig;
  /** Bounded by the term: nothing goes out once it is over. */
  readonly api: ReconcilerApi;
  readonly store: WorkloadStore;
  readonly lumigoes: LumigoStore;
  /** Whether what is known of the Lumigo resources is out of date. */
  readonly lumigoesRead: Pick<CatchUp, 'isCurrent' | 'catchUp'>;
  readonly events: EventQueue;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Once it is aborted nothing is begun any more. */
  readonly signal: AbortSignal;
  /** What is stamped before this time (ISO 8601) was told by an earlier leader. */
  readonly since: string;
  /** Has a namespace planned anew: something of it changed, or an action there has ended, whatever came of it. */
  readonly enqueue: (namespace: string) => void;
}
