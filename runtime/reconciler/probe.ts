import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fieldManager, probeEchoPrefix, probeLabel } from '../contract.ts';
import { describeError } from '../errors.ts';
import type { LumigoResource } from '../injection/types.ts';
import type { Client } from '../kubernetes/client.ts';
import type { Problem } from '../problem.ts';
import { lumigoRef } from './api.ts';

interface ProbeOptions {
  readonly client: Client;
  /** A Lumigo to probe with; without one there is nothing that the webhook would have to do. */
  readonly candidate: () => LumigoResource | undefined;
  /** Told of each result. */
  readonly onResult: (result: Problem | 'reachable') => void;
  /** How long the API server waits for the webhook. */
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

const INTERVAL_MS = 60_000;
/** A first failure may be the webhook's own start, or a Service that is being programmed: it is checked before it is believed. */
const RECHECK_MS = 5_000;
/** An answer after so much of the API server's patience is one that it gave without the webhook. */
const TIMED_OUT = 0.9;

/**
 * Proves once a minute that the API server really reaches the webhook. With failurePolicy Ignore a webhook that cannot be
 * reached is silent otherwise: nothing fails, and nothing is injected.
 */
export async function probeWebhook(options: ProbeOptions): Promise<void> {
  const { signal } = options;
  let failures = 0;
  await sleep(RECHECK_MS / 2, undefined, { signal }).catch(() => undefined);
  while (!signal.aborted) {
    const lumigo = options.candidate();
    const result = lumigo === undefined ? undefined : await probeOnce(options, lumigo);
    failures = result === undefined || result === 'reachable' ? 0 : failures + 1;
    // One failure may be anything; the second in a row is told.
    if (result !== undefined && failures !== 1) options.onResult(result);
    // A first failure is checked soon; and something to probe with costs nothing to look for.
    const soon = failures === 1 || result === undefined;
    await sleep(soon ? RECHECK_MS : INTERVAL_MS, undefined, { signal }).catch(() => undefined);
  }
}

type Result = Problem | 'reachable' | undefined;

async function probeOnce({ client, timeoutSeconds }: ProbeOptions, lumigo: LumigoResource): Promise<Result> {
  const probe = randomBytes(8).toString('hex');
  const started = performance.now();
  try {
    const warnings = await dryRun(client, lumigo, probe);
    if (warnings.some((text) => text.includes(probeEchoPrefix + probe))) return 'reachable';
    return unreachable(performance.now() - started, timeoutSeconds);
  } catch (error) {
    // Without an answer from the API server itself nothing can be said of the way from it to the webhook.
    return describeError(error).includes('webhook')
      ? { reason: 'ProbeRefused', message: describeError(error) }
      : undefined;
  }
}

/** Has the API server label a Lumigo with the probe, as a dry run, and gives back the warnings that its answer carries. */
async function dryRun(client: Client, lumigo: LumigoResource, probe: string): Promise<readonly string[]> {
  const body = { metadata: { labels: { [probeLabel]: probe } } };
  const options = { fieldManager, dryRun: true, metadataOnly: true };
  return (await client.patch(lumigoRef(lumigo), { kind: 'merge', body }, options)).warnings;
}

const consequence = 'Workloads created meanwhile are instrumented by the reconciler, with a restart of their pods.';

/** Why an answer came without the webhook's echo: it took as long as the API server waits, or it was quick. */
export function unreachable(tookMs: number, timeoutSeconds: number): Problem {
  if (tookMs > timeoutSeconds * 1_000 * TIMED_OUT)
    return {
      reason: 'ProbeTimedOut',
      message: `The API server gets no answer from the injector webhook. ${consequence} Usual causes: a firewall between the control plane and the nodes (private GKE clusters: allow the webhook's port 9443 from the control plane), a NetworkPolicy, or a CNI that the control plane does not share (EKS with a custom CNI).`,
    };
  return {
    reason: 'ProbeFailed',
    message: `The API server did not call the injector webhook, or could not trust its certificate. ${consequence} Check that the MutatingWebhookConfiguration exists, that its caBundle belongs to the certificate served, and that the webhook's Service has endpoints.`,
  };
}
