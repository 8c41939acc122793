import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../kubernetes/http/client.ts';
import { judgeProbe, type WebhookSeen } from './judge-probes.ts';
import { probeOnce, type Candidate } from './probe-request.ts';

interface ProbeOptions {
  readonly client: Client;
  /** Returns what to probe with. Without a `Lumigo` resource the webhook has nothing to do. */
  readonly candidate: () => Candidate | undefined;
  readonly onResult: (result: WebhookSeen) => void;
  /** How long the API server waits for the webhook. */
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

const INTERVAL_MS = 60_000;
/** The webhook may be starting, or its Service may be being programmed, so a first failure is checked again before it is reported. */
const RECHECK_MS = 5_000;

/**
 * Proves once a minute that the API server reaches the webhook through its Service. Otherwise an unreachable webhook would be silent,
 * because its failurePolicy is Ignore: no request fails, and nothing is injected.
 */
export async function probeWebhook({
  client,
  candidate,
  onResult,
  timeoutSeconds,
  signal,
}: ProbeOptions): Promise<void> {
  let failures = 0;
  await sleep(RECHECK_MS / 2, undefined, { signal }).catch(() => undefined);
  while (!signal.aborted) {
    const found = candidate();
    const result = found && judgeProbe(await probeOnce(client, found, timeoutSeconds));
    failures = result?.reachable === false ? failures + 1 : 0;
    // One failure may be anything. The second in a row is reported.
    if (result !== undefined && failures !== 1) onResult(result);
    // A first failure is checked soon, and looking for something to probe with costs no request.
    const isSoon = failures === 1 || result === undefined;
    await sleep(isSoon ? RECHECK_MS : INTERVAL_MS, undefined, { signal }).catch(() => undefined);
  }
}
