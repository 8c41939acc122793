import { silenceChecks } from '../injection/remedies.ts';
import { getName, some, type Untimed } from './conditions-rollout.ts';
import type { TelemetrySummary } from './plan-telemetry.ts';

/** Empty until telemetry arrives, or a workload is silent for too long. */
export function telemetryConditions({ received, silent }: TelemetrySummary): Untimed[] {
  const type = 'TelemetryReceived';
  if (silent.length > 0) {
    const names = some(silent, getName).join(', ');
    const message = `No telemetry arrives from ${names}. Check each of them. ${silenceChecks}`;
    return [{ type, status: 'False', reason: 'NothingReceived', message }];
  }
  if (received === 0) return [];
  const message = 'Telemetry arrives from the workloads whose pods have run with the injection for long enough';
  return [{ type, status: 'True', reason: 'Received', message }];
}
