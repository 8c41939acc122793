import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { load } from '../../bench/load.ts';
import { sampleReview } from '../../bench/review.ts';
import { asInThePod } from '../../bench/surroundings.ts';
import { launch, type Running } from '../../sandbox/control-plane/processes.ts';
import { isAlive } from '../../sandbox/run.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { paths, workloadKinds } from '../contract.ts';

/** The container's memory limit. */
const LIMIT_BYTES = 256 * 1024 * 1024;
/** With LUMIGO_ATTACK_SECONDS=600 it measures what docs/contributing/reliability.md reports. */
const seconds = Number(process.env['LUMIGO_ATTACK_SECONDS'] ?? 10);

let operator: OperatorBench;
let attacker: Running | undefined;
beforeAll(async () => {
  operator = await startOperator({ controllerManager: false, environment: asInThePod });
});
afterAll(async () => {
  await attacker?.stop('SIGKILL');
  await operator?.stop();
});

const peakBytes = (pid: number) =>
  1024 * Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? NaN);

it(
  'the webhook stays up, within its memory, and answers others, whatever a pod sends [F21]',
  async () => {
    const { testCluster, cluster, installation } = operator;
    const { pid, webhookPort } = operator.manager();
    const shop = await testCluster.namespace('shop');
    await testCluster.activate(shop);
    const post = (durationMs: number) =>
      load({
        url: new URL(`https://127.0.0.1:${webhookPort}${paths.inject}`),
        ca: installation.authority.certificate,
        connections: 4,
        pauseMs: 50,
        durationMs,
        body: sampleReview(shop),
      });
    const quiet = await post(3_000);
    attacker = launch({
      name: 'attack',
      path: process.execPath,
      folder: cluster.dir,
      reaper: cluster.reaper,
      args: ['--import', 'tsx', fileURLToPath(new URL('../../sandbox/testing/attack.ts', import.meta.url))],
      environment: { PATH: process.env['PATH'], ATTACK_PORT: String(webhookPort) },
    });
    const ordinary = await post(seconds * 1_000);
    const { deployment } = workloadKinds;
    await testCluster.create(createWorkload(deployment, shop, 'meanwhile'));
    expect(isAlive(attacker.pid)).toBe(true);
    const peak = peakBytes(pid);
    process.stderr.write(
      `attack of ${seconds} s: ${JSON.stringify({ quiet, ordinary, peakMB: Math.round(peak / 1e6) })}\n`,
    );
    expect(operator.manager().pid).toBe(pid);
    expect(await testCluster.isInstrumented(deployment, shop, 'meanwhile')).toBe(true);
    expect(peak).toBeLessThan(LIMIT_BYTES);
    expect(ordinary.failures).toBe(0);
    expect(ordinary.requests).toBeGreaterThan(seconds * 4);
    // The attackers, the API server and other tests share the machine's cores.
    expect(ordinary.p99Ms).toBeLessThan(Math.max(500, 10 * quiet.p99Ms));
  },
  (seconds + 60) * 1_000,
);
