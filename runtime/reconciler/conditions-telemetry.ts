import { getName, some, type Untimed } from './conditions-rollout.ts';
import type { TelemetrySummary } from './plan-telemetry.ts';

const TELEMETRY_RECEIVED = 'TelemetryReceived';

/** The usual causes, also for `lumigo explain`. */
export const silenceChecks =
  "(1) Do its containers run Node.js, Python or Java, linked dynamically? (2) Does 'envFrom' or the image set LD_PRELOAD? (3) Does a NetworkPolicy block the telemetry proxy? (4) Does the pod have the current token? See docs/use/telemetry.md";

/** Empty until telemetry arrives, or a workload is silent for too long. */
export function telemetryConditions({ received, silent }: TelemetrySummary): Untimed[] {
  if (silent.length > 0) {
    const names = some(silent, getName).join(', ');
    const message = `No telemetry arrives from ${names}. Check each of them. ${silenceChecks}`;
    return [{ type: TELEMETRY_RECEIVED, status: 'False', reason: 'NothingReceived', message }];
  }
  if (received === 0) return [];
  const message = 'Telemetry arrives from the workloads whose pods have run with the injection for long enough';
  return [{ type: TELEMETRY_RECEIVED, status: 'True', reason: 'Received', message }];
}
