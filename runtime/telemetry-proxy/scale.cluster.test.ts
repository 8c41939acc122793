import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startFlow } from '../../sandbox/otlp-sink/sender.ts';
import { quantile } from '../../sandbox/testing/quantile.ts';
import { readAudit } from '../../sandbox/testing/audit.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { getEvent, startTelemetry, getToken, type TelemetryBench } from '../../sandbox/testing/telemetry.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { forEachConcurrent } from '../async/for-each-concurrent.ts';
import { signals, workloadKinds } from '../contract.ts';
import { collectedKinds } from './render-collection.ts';

let telemetry: TelemetryBench;
beforeAll(async () => {
  telemetry = await startTelemetry({ controllerManager: false, audit: true });
});
afterAll(() => telemetry?.stop());

const { deployment } = workloadKinds;
const injection = { tracing: { injection: { enabled: false } } };

const residentMb = (pid: number): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024);

const report = (line: string): void => void process.stderr.write(`      ${line}\n`);

describe('200 namespaces', () => {
  it('have their objects sent under their own tokens, and those of others are never sent [D32]', async () => {
    const { testCluster, sink, cluster, collector } = telemetry;
    const names = Array.from({ length: 200 }, (_, index) => `tenant-${index}`);
    const others = Array.from({ length: 20 }, (_, index) => `other-${index}`);
    await forEachConcurrent(8, [...names, ...others], async (name) => {
      await testCluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    });
    await forEachConcurrent(8, names.entries(), async ([index, name]) => {
      await testCluster.secret(name, getToken(index));
      await testCluster.lumigo(name, injection);
    });
    await eventually(
      async () => expect(await telemetry.metric('lumigo_operator_telemetry_collected_namespaces')).toBe(200),
      { timeoutMs: 120_000 },
    );
    await telemetry.waitForSettled();
    await forEachConcurrent(8, [...names, ...others], async (name) => {
      await testCluster.create(createWorkload(deployment, name, 'app'));
      await testCluster.create(getEvent(name, 'event'));
    });
    await eventually(
      () => {
        const complete = names.filter((name) => {
          const kinds = sink.objects.filter(({ namespace }) => namespace === name).map(({ resource }) => resource);
          return kinds.includes('events') && kinds.includes('deployments');
        });
        expect(complete.length).toBe(200);
      },
      { timeoutMs: 90_000, intervalMs: 500 },
    );
    const wrong = sink.objects.filter(
      ({ namespace, received }) =>
        received.authorization !== `LumigoToken ${getToken(names.indexOf(namespace))}` || !names.includes(namespace),
    );
    expect(wrong.map(({ namespace }) => namespace)).toEqual([]);
    const watches = readAudit(cluster).filter(
      ({ verb, userAgent = '' }) => verb === 'watch' && userAgent.startsWith('otelcol'),
    );
    const begun = watches.filter(({ stage }) => stage === 'ResponseStarted').length;
    const ended = watches.filter(({ stage }) => stage === 'ResponseComplete').length;
    // Each kind has one watch. Each signal also watches pods, ReplicaSets and Jobs twice to identify senders.
    expect(begun - ended).toBeLessThanOrEqual(collectedKinds.length + 2 * 3 * signals.length);
    report(`collector with 200 namespaces of 200 tokens: ${residentMb(collector().pid())} MB`);
  });

  it('lose no span of 1,000 a second while 100 of them switch on and off [D33]', async () => {
    const { sink, collector, testCluster } = telemetry;
    await telemetry.waitForSettled();
    const reloads = await telemetry.countReloads();
    const already = sink.spans.length;
    const flow = startFlow(collector().url, [getToken(150), getToken(151), getToken(152)], 1_000);
    const names = Array.from({ length: 100 }, (_, index) => `tenant-${index}`);
    const before = residentMb(collector().pid());
    let most = 0;
    for (const enabled of [false, true])
      for (const name of names) {
        await testCluster.changeLumigo(name, { spec: { infrastructure: { enabled } } });
        most = Math.max(most, residentMb(collector().pid()));
        await sleep(50);
      }
    await telemetry.waitForSettled();
    await flow.stop();
    const ids = () => new Set(sink.spans.slice(already).map(({ item }) => item.spanId)).size;
    await eventually(() => expect(ids()).toBe(flow.sent()), { timeoutMs: 30_000, intervalMs: 500 });
    const at = (share: number) => quantile(flow.latencies, share);
    const count = (await telemetry.countReloads()) - reloads;
    report(
      `${flow.sent()} spans over ${count} reloads: none lost, ${flow.repeated()} requests repeated; acknowledged after ` +
        `${at(0.5)} ms (median), ${at(0.99)} ms (99 %), ${at(1)} ms (longest); collector ${before} MB before, at most ${most} MB`,
    );
    expect(flow.sent()).toBeGreaterThan(10_000);
    // An exporter waits for 10 s, and Go's HTTP server for 5 s if a new connection has sent no request yet.
    expect(at(1)).toBeLessThan(8_000);
  });
});
