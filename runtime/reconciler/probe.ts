import type * as api from '@kubernetes/client-node';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sparse } from '../injection/types.ts';
import { createClient, type Client } from '../kubernetes/http/client.ts';
import type { Transport } from '../kubernetes/http/transport.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { judgeProbes, type Probed, type WebhookSeen } from './judge-probes.ts';
import { probeOnce, type Candidate } from './probe-request.ts';

interface ProbeOptions {
  readonly transport: Transport;
  /** What to probe with; without a Lumigo there is nothing that the webhook would have to do. */
  readonly candidate: () => Candidate | undefined;
  /** Told of each result. */
  readonly onResult: (result: WebhookSeen) => void;
  /** How long the API server waits for the webhook. */
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

const INTERVAL_MS = 60_000;
/** A first failure may be the webhook's own start, or a Service that is being programmed: it is checked before it is believed. */
const RECHECK_MS = 5_000;
/** A control plane grows and shrinks rarely. */
const ADDRESSES_MS = 10 * 60_000;

/**
 * Proves once a minute that each API server really reaches the webhook. With failurePolicy Ignore a webhook that cannot be
 * reached is silent otherwise: nothing fails, and nothing is injected.
 */
export async function probeWebhook(options: ProbeOptions): Promise<void> {
  const { signal } = options;
  const addresses = knownFor(ADDRESSES_MS, () => apiServers(createClient(options.transport)));
  let failures = 0;
  await sleep(RECHECK_MS / 2, undefined, { signal }).catch(() => undefined);
  while (!signal.aborted) {
    const candidate = options.candidate();
    const result = candidate && judgeProbes(await probeAll(options, candidate, await addresses()));
    failures = result?.reachable === false ? failures + 1 : 0;
    // One failure may be anything; the second in a row is told.
    if (result !== undefined && failures !== 1) options.onResult(result);
    // A first failure is checked soon; and something to probe with costs nothing to look for.
    const soon = failures === 1 || result === undefined;
    await sleep(soon ? RECHECK_MS : INTERVAL_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Each API server of several is asked itself; where there is one, or none of them answers, whichever the Service gives. */
async function probeAll(
  { transport, timeoutSeconds }: ProbeOptions,
  candidate: Candidate,
  addresses: readonly string[],
): Promise<readonly Probed[]> {
  const at = async (address: string | undefined): Promise<Probed> => {
    const direct = address === undefined ? undefined : transport.at(address);
    const reach = await probeOnce(createClient(direct ?? transport), candidate, timeoutSeconds);
    direct?.close();
    return { address, reach };
  };
  const probed = await Promise.all(addresses.length > 1 ? addresses.map(at) : []);
  return probed.every(({ reach }) => 'unknown' in reach) ? [...probed, await at(undefined)] : probed;
}

function knownFor<T>(lifeMs: number, ask: () => Promise<T>): () => Promise<T> {
  let known: { readonly value: T; readonly at: number } | undefined;
  return async () => {
    if (known === undefined || performance.now() - known.at > lifeMs)
      known = { value: await ask(), at: performance.now() };
    return known.value;
  };
}

const slice = { ...kinds.endpointSlices, namespace: 'default', name: 'kubernetes' };
/** More than a control plane has; those beyond are not asked. */
const MOST = 9;

/**
 * Where the API servers of the cluster are themselves, behind the Service `kubernetes`: `10.0.0.1:6443`, in an order that stays. None
 * where they do not say. A managed control plane may name one address for all of them.
 */
async function apiServers(client: Client): Promise<readonly string[]> {
  const found = (await client.get(slice).catch(() => undefined)) as Sparse<api.V1EndpointSlice> | undefined;
  const { endpoints = [], ports = [] } = found ?? {};
  const port = ports[0]?.port ?? 443;
  const addresses = endpoints.flatMap((endpoint) => endpoint.addresses ?? []).toSorted();
  return addresses.slice(0, MOST).map((address) => `${address.includes(':') ? `[${address}]` : address}:${port}`);
}
