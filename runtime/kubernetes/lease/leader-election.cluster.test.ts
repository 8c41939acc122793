import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { connectTo } from '../../../sandbox/control-plane/connect.ts';
import { type ControlPlane, startControlPlane } from '../../../sandbox/control-plane/control-plane.ts';
import { startApiProxy } from '../../../sandbox/faults/api-proxy.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { startTcpProxy } from '../../../sandbox/testing/tcp-proxy.ts';
import { aborted } from '../../async/aborted.ts';
import { createClient } from '../http/client.ts';
import { elect, type ElectionOptions } from './leader-election.ts';
import type { Lease } from './plan-lease.ts';
import type { RequestInfo, Transport } from '../http/transport.ts';
import { kinds } from '../resources/kinds.ts';

let cluster: ControlPlane;
let lease: string;
let cleanUp: (() => Promise<unknown>)[];
let leases = 0;

beforeAll(async () => {
  cluster = await startControlPlane({ controllerManager: false });
});
afterAll(() => cluster?.stop());
beforeEach(() => {
  leases += 1;
  lease = `lease-${leases}`;
  cleanUp = [];
});
afterEach(async () => {
  for (const clean of cleanUp.reverse()) await clean();
});

const namespace = 'default';
/** A late answer of the API server ends no term. */
const patient = { leaseDurationMs: 70_000, renewDeadlineMs: 60_000, retryPeriodMs: 1_000 };
/** A write to etcd may take seconds on a busy machine, which must not end a term. */
const times = { leaseDurationMs: 12_000, renewDeadlineMs: 10_000, retryPeriodMs: 1_000 };
const lasts = times.leaseDurationMs;
/** Longer than a Lease lasts, also if each request is slow. */
const WAIT = { timeoutMs: 60_000 };

interface Term {
  readonly identity: string;
  readonly from: number;
  until: number;
  readonly previousRenewTime: string | undefined;
}

interface Candidate {
  readonly terms: Term[];
  stop(): Promise<void>;
}

function transportTo(port: string, requests: string[] = []): Transport {
  const onRequest = ({ verb, resource }: RequestInfo) => requests.push(`${verb} ${resource}`);
  const transport = connectTo({ ...cluster, server: `https://127.0.0.1:${port}` }, { onRequest });
  cleanUp.push(() => Promise.resolve(transport.close()));
  return transport;
}

function stand(identity: string, options: Partial<ElectionOptions> & { transport?: Transport } = {}): Candidate {
  const { transport = transportTo(new URL(cluster.server).port) } = options;
  const stop = new AbortController();
  const terms: Term[] = [];
  const ended = elect({
    client: createClient(transport),
    namespace,
    name: lease,
    identity,
    times,
    signal: stop.signal,
    onStartedLeading: ({ signal, previousRenewTime }) => {
      const term: Term = { identity, from: performance.now(), until: Infinity, previousRenewTime };
      terms.push(term);
      signal.addEventListener('abort', () => (term.until = performance.now()));
    },
    ...options,
  });
  const candidate = {
    terms,
    async stop() {
      stop.abort();
      await ended;
    },
  };
  cleanUp.push(() => candidate.stop());
  return candidate;
}

/** The candidate reads the Lease at most once each period. */
function standLooking(identity: string): Candidate & { readonly hasLooked: (times: number) => Promise<void> } {
  const requests: string[] = [];
  const candidate = stand(identity, { transport: transportTo(new URL(cluster.server).port, requests) });
  const hasLooked = (count: number) =>
    eventually(
      () => expect(requests.filter((each) => each === 'get leases').length).toBeGreaterThanOrEqual(count),
      WAIT,
    );
  return { ...candidate, hasLooked };
}

const leads = (candidate: Candidate, count = 1): Promise<void> =>
  eventually(() => expect(candidate.terms).toHaveLength(count), WAIT);

function getTerm({ terms }: Candidate, index = 0): Term {
  const term = terms[index];
  if (term === undefined) throw new Error(`there is no term ${index} yet`);
  return term;
}

const read = async (): Promise<Lease> =>
  (await cluster.client.get({ ...kinds.leases, namespace, name: lease })) as Lease;

describe('two candidates', () => {
  it('have one leader; when it stops, the other takes over at once, and terms never overlap', async () => {
    const first = stand('first');
    await leads(first);
    const second = standLooking('second');
    // This is longer than the Lease lasts.
    await second.hasLooked(lasts / times.retryPeriodMs + 2);
    expect([first.terms.length, second.terms.length]).toEqual([1, 0]);
    await first.stop();
    expect(['', 'second']).toContain((await read()).spec?.holderIdentity);
    await leads(second);
    const before = getTerm(first);
    const after = getTerm(second);
    expect(after.from).toBeGreaterThan(before.until);
    // Without a release it would take the rest of the Lease, which was renewed a period ago at most.
    expect(after.from - before.until).toBeLessThan(lasts - 1.5 * times.retryPeriodMs);
    expect(before.previousRenewTime).toBeUndefined();
    expect(Date.now() - Date.parse(after.previousRenewTime ?? '')).toBeLessThan(lasts);
    expect((await read()).spec).toMatchObject({ holderIdentity: 'second', leaseTransitions: 1 });
  });

  it('stop a leader without a connection before the other starts', async () => {
    const proxy = await startTcpProxy(Number(new URL(cluster.server).port));
    cleanUp.push(() => proxy.close());
    const cutOff = stand('cut-off', { transport: transportTo(String(proxy.port)) });
    await leads(cutOff);
    const other = standLooking('other');
    await other.hasLooked(2);
    proxy.freeze(true);
    await leads(other);
    expect(cutOff.terms).toHaveLength(1);
    expect(getTerm(cutOff).until).toBeLessThan(getTerm(other).from);
    proxy.freeze(false);
    await other.stop();
    await leads(cutOff, 2);
    expect(getTerm(cutOff, 1).from).toBeGreaterThan(getTerm(other).until);
  });

  it('replace a leader whose work fails', async () => {
    const transport = transportTo(new URL(cluster.server).port);
    let failures = 0;
    const failing = stand('failing', {
      transport,
      // This one stands again after 40 s, and the other candidate looks each second.
      times: { leaseDurationMs: 60_000, renewDeadlineMs: 50_000, retryPeriodMs: 20_000 },
      onStartedLeading: () => {
        failures += 1;
        return Promise.reject(new Error('no'));
      },
    });
    await eventually(() => expect(failures).toBe(1));
    const able = stand('able');
    await leads(able);
    await failing.stop();
    expect(failures).toBe(1);
  });
});

describe('one candidate', () => {
  it("renews with one request a period, and keeps other writers' fields of the Lease", async () => {
    const requests: string[] = [];
    const leader = stand('modest', { transport: transportTo(new URL(cluster.server).port, requests), times: patient });
    await leads(leader);
    await eventually(() => expect(requests.length).toBeGreaterThanOrEqual(6), { intervalMs: 10 });
    const periods = (performance.now() - getTerm(leader).from) / times.retryPeriodMs;
    expect(requests.slice(0, 2)).toEqual(['get leases', 'create leases']);
    const renewals = requests.slice(2);
    expect(new Set(renewals)).toEqual(new Set(['update leases']));
    expect(renewals.length).toBeLessThanOrEqual(periods + 1);
    const ref = { ...kinds.leases, namespace, name: lease };
    const annotations = { note: 'kept' };
    await cluster.client.patch(ref, { kind: 'merge', body: { metadata: { annotations } } });
    const { renewTime } = (await read()).spec ?? {};
    await eventually(async () => expect((await read()).spec?.renewTime).not.toBe(renewTime));
    expect((await read()).metadata.annotations).toEqual(annotations);
    expect(leader.terms).toHaveLength(1);
  });

  it('renews again at once if a busy API server asks for a longer wait than the Lease lasts', async () => {
    const proxy = await startApiProxy(cluster);
    cleanUp.push(() => proxy.close());
    const leader = stand('busy', { transport: transportTo(new URL(proxy.server).port) });
    await leads(leader);
    let refusals = 0;
    proxy.interfere = ({ isWrite }) => {
      if (isWrite) refusals += 1;
      return isWrite && refusals <= 2 ? { answer: 429, retryAfterSeconds: 10 } : undefined;
    };
    await eventually(() => expect(refusals).toBeGreaterThan(3), WAIT);
    expect(leader.terms).toMatchObject([{ until: Infinity }]);
  });

  it('outlasts an API server that is away for less than the renewal deadline', async () => {
    const proxy = await startTcpProxy(Number(new URL(cluster.server).port));
    cleanUp.push(() => proxy.close());
    const requests: string[] = [];
    const leader = stand('patient', { transport: transportTo(String(proxy.port), requests), times: patient });
    await leads(leader);
    proxy.block(true);
    const { length } = requests;
    await eventually(() => expect(requests.length).toBeGreaterThan(length + 2));
    proxy.block(false);
    const { renewTime } = (await read()).spec ?? {};
    await eventually(async () => expect((await read()).spec?.renewTime).not.toBe(renewTime));
    expect(leader.terms).toMatchObject([{ until: Infinity }]);
  });

  it('works on for a moment after it is stopped, but not once another one can lead', async () => {
    const stop = new AbortController();
    const done = new AbortController();
    const fences: (() => void)[] = [];
    stand('slow', {
      signal: stop.signal,
      onStartedLeading: async ({ fence }) => {
        fences.push(fence);
        stop.abort();
        await aborted(done.signal);
      },
    });
    await eventually(() => expect(fences).toHaveLength(1), WAIT);
    expect(fences[0]).not.toThrow();
    await eventually(() => expect(fences[0]).toThrow('no longer holds the lease'), { timeoutMs: lasts });
    done.abort();
  });
});
