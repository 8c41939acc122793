import type { Now } from './observed.ts';
import { isAtLimit, telemetryAfter, unknownTelemetry } from './plan-telemetry.ts';
import type { ReconcilerContext } from './reconciler-context.ts';

/** Keeps which workloads sent telemetry, as far as all replicas know. */
export class TelemetryFacts {
  received: ReadonlySet<string> = new Set();

  constructor(private readonly term: Pick<ReconcilerContext, 'store' | 'lumigoes'>) {}

  update(namespace: string, now: Now): void {
    const { store, lumigoes } = this.term;
    const policy = lumigoes.policy(namespace);
    const workloads = store.in(namespace);
    const isUnsure = isAtLimit(workloads, this.received);
    for (const workload of workloads) {
      const next = telemetryAfter(workload, policy, this.received, now);
      const isUnknown = isUnsure && next.telemetry === 'NothingYet';
      const { telemetry, telemetrySince } = isUnknown ? unknownTelemetry : next;
      if (telemetry !== workload.telemetry || telemetrySince !== workload.telemetrySince)
        store.update(workload, { telemetry, telemetrySince });
    }
  }
}
