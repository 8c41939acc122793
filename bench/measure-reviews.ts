import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { paths } from '../runtime/contract.ts';
import { measureLateness } from './event-loop.ts';
import { instrumentFleet, makeFleet, uninstrumentFleet } from './fleet.ts';
import { load, type LoadOptions } from './load.ts';
import { sampleReview } from './review.ts';
import { during, type Surroundings } from './surroundings.ts';
import type { Figure } from './table.ts';

const CONNECTIONS = 8;
const SIZES_KB = [50, 500, 1_500];
const WARM_MS = 2_000;
const DURATION_MS = 8_000;
const LONGEST_MS = 120_000;
/** About 200 reviews a second over 8 connections: more than any API server of this size sends. */
const PAUSE_MS = 40;

type Target = Omit<LoadOptions, 'durationMs'>;

/** Measures the webhook beside a bare HTTPS server with the same reviews, and while its leader is busy. */
export async function measureReviews(there: Surroundings, count: number): Promise<Figure[]> {
  const { testCluster, manager, installation, say } = there;
  const namespace = await testCluster.namespace('reviews');
  await testCluster.activate(namespace);
  const target = {
    url: new URL(`https://127.0.0.1:${manager.webhookPort}${paths.inject}`),
    ca: installation.authority.certificate,
    body: sampleReview(namespace),
    connections: CONNECTIONS,
  };
  say('reviews: the bare server');
  const bare = await withBareServer(there, (pid, port) =>
    measure(pid, { ...target, url: new URL(`https://127.0.0.1:${port}/`) }),
  );
  say('reviews: the webhook');
  const own = await measure(manager.pid, target);
  say('reviews: without a change, and large reviews');
  const elsewhere = await measure(manager.pid, {
    ...target,
    body: sampleReview(await testCluster.namespace('no-lumigo')),
  });
  const large = await measureSizes(manager.pid, target, namespace);
  say(`reviews: the webhook while ${count} Deployments are instrumented`);
  const busy = await loadWhileInstrumenting(there, count, target);
  const paced = await measureLateness(manager.pid, () =>
    loadWhileInstrumenting(there, count, { ...target, pauseMs: PAUSE_MS }),
  );
  return [
    { name: 'bare server: CPU per review', value: bare.cpuMicroseconds, unit: 'µs' },
    { name: 'webhook: CPU per review', value: own.cpuMicroseconds, unit: 'µs', target: 340 },
    { name: 'webhook / bare server', value: own.cpuMicroseconds / bare.cpuMicroseconds, unit: 'x', target: 2 },
    {
      name: 'webhook that changes nothing / bare server',
      value: elsewhere.cpuMicroseconds / bare.cpuMicroseconds,
      unit: 'x',
      target: 1.6,
    },
    ...large,
    { name: 'webhook: reviews a second', value: own.perSecond, unit: '' },
    { name: 'webhook: p99 at 8 connections', value: own.p99Ms, unit: 'ms' },
    { name: 'webhook: p99 while instrumenting', value: busy.p99Ms, unit: 'ms', target: 10 },
    { name: 'webhook: reviews a second while instrumenting', value: busy.perSecond, unit: '' },
    { name: 'webhook: p99 while instrumenting, paced', value: paced.result.p99Ms, unit: 'ms', target: 10 },
    { name: '… event loop delay, p99', value: paced.lateness.p99Ms, unit: 'ms', target: 5 },
    { name: 'webhook: reviews a second, paced', value: paced.result.perSecond, unit: '' },
    { name: 'webhook: failures', value: own.failures + busy.failures + paced.result.failures, unit: '', target: 0 },
  ];
}

/** Returns microseconds per KB for reviews of several sizes. The time should grow linearly. */
async function measureSizes(pid: number, target: Target, namespace: string): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const kilobytes of SIZES_KB) {
    const { cpuMicroseconds } = await measure(pid, { ...target, body: sampleReview(namespace, kilobytes * 1_000) });
    const name = `webhook: CPU per KB of a review of ${kilobytes} KB`;
    figures.push({ name, value: cpuMicroseconds / kilobytes, unit: 'µs' });
  }
  return figures;
}

async function loadWhileInstrumenting({ testCluster }: Surroundings, count: number, target: Target) {
  const fleet = await makeFleet(testCluster, count);
  const stop = new AbortController();
  const loading = load({ ...target, durationMs: LONGEST_MS, signal: stop.signal });
  await instrumentFleet(testCluster, fleet, count).finally(() => stop.abort());
  const result = await loading;
  await uninstrumentFleet(testCluster, fleet);
  return result;
}

async function measure(pid: number, target: Target) {
  await load({ ...target, durationMs: WARM_MS });
  const { result, cpuSeconds } = await during(pid, () => load({ ...target, durationMs: DURATION_MS }));
  return { ...result, cpuMicroseconds: (cpuSeconds / result.requests) * 1e6 };
}

async function withBareServer<T>(
  { cluster, manager, node }: Surroundings,
  action: (pid: number, port: number) => Promise<T>,
): Promise<T> {
  const files = ['tls.crt', 'tls.key'].map((name) => join(manager.certificates, name));
  const child = spawn(node, ['--import', 'tsx', 'bench/bare-server.ts', ...files], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.pid === undefined) throw new Error(`${node} cannot be executed`);
  cluster.reaper.watch(child.pid);
  try {
    const [port] = (await once(child.stdout, 'data')) as [Buffer];
    return await action(child.pid, Number(port.toString()));
  } finally {
    child.kill();
  }
}
