import type { Logger } from 'pino';
import type { RuntimeConfig } from '../config/config.ts';
import type { LumigoStore } from '../lumigo/lumigo-store.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { ReconcilerApi } from './api.ts';
import type { EventQueue } from '../kubernetes/resources/event-queue.ts';
import type { WorkloadStore } from './workload-store.ts';

export interface ReconcilerContext {
  readonly config: RuntimeConfig;
  readonly api: ReconcilerApi;
  readonly store: WorkloadStore;
  readonly lumigoes: LumigoStore;
  readonly lumigoesRead: { readonly isCurrent: boolean };
  readonly events: EventQueue;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Aborted at the end of the term. Nothing starts afterwards. */
  readonly signal: AbortSignal;
  /** ISO 8601. An earlier leader has reported each injection status before this time. */
  readonly since: string;
  readonly enqueue: (namespace: string) => void;
}
