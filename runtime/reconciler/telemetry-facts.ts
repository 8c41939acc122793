import { setUnlessZero } from '../observability/metrics.ts';
import type { Now } from './observed.ts';
import { isAtLimit, telemetryAfter, type TelemetrySummary } from './plan-telemetry.ts';
import type { ReconcilerContext } from './reconciler-context.ts';

/** Keeps which workloads sent telemetry, as far as all replicas know. */
export class TelemetryFacts {
  private received: ReadonlySet<string> = new Set();

  constructor(private readonly term: Pick<ReconcilerContext, 'store' | 'lumigoes' | 'metrics' | 'signal'>) {
    const { metrics, signal } = term;
    signal.addEventListener('abort', () => metrics.telemetryWorkloads.reset(), { once: true });
  }

  receive(uids: ReadonlySet<string>): void {
    this.received = uids;
  }

  update(namespace: string, now: Now): void {
    const { store, lumigoes } = this.term;
    const policy = lumigoes.policy(namespace);
    const workloads = store.in(namespace);
    const isUnsure = isAtLimit(workloads, this.received);
    for (const workload of workloads) {
      const next = telemetryAfter(workload, policy, this.received, now);
      const telemetry = isUnsure && next?.kind === 'NothingYet' ? undefined : next;
      if (telemetry !== workload.telemetry) store.update(workload, { telemetry });
    }
  }

  count(namespace: string, { received, awaited, silent }: TelemetrySummary): void {
    const { telemetryWorkloads } = this.term.metrics;
    for (const [telemetry, number] of Object.entries({ received, awaited, silent: silent.length }))
      setUnlessZero(telemetryWorkloads, { namespace, telemetry }, number);
  }
}
