import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { runCommand } from '../../sandbox/manager/command.ts';
import { OtlpSink } from '../../sandbox/otlp-sink/sink.ts';
import { operatorRequests, type AuditEntry } from '../../sandbox/testing/audit.ts';
import { destroy } from '../../sandbox/testing/destroy.ts';
import { eventually, waitForRest } from '../../sandbox/testing/eventually.ts';
import { instrumentedAndProtected } from '../../sandbox/testing/protection.ts';
import { runOperatorPods } from '../../sandbox/testing/operator-pods.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { startTcpProxy, type TcpProxy } from '../../sandbox/testing/tcp-proxy.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { forEachConcurrent } from '../async/for-each-concurrent.ts';
import { workloadKinds } from '../contract.ts';
import { listAll } from '../kubernetes/http/client.ts';
import { removeInstrumentation } from './remove-instrumentation.ts';

/** One after the other, so many writes would exceed the time for which a deleted account still has its rights. */
const WORKLOADS = Number(process.env['LUMIGO_REMOVED_WORKLOADS'] ?? 300);
/** Milliseconds per answer: the leader cannot finish before its end, and 300 sequential writes exceed the bound. */
const SLOW_MS = WORKLOADS > 300 ? 0 : 120;
const MAX_DURATION_MS = 30_000;
/** A leader has at most this number of writes in progress when it stops. */
const IN_FLIGHT = 16;
/** A leader may send a write that it has begun for this time after it noticed the signal. */
const STOPPING_MS = 1_000;

let sink: OtlpSink;
let operator: OperatorBench;
let namespace: string;
let network: TcpProxy | undefined;
beforeAll(async () => {
  const through = async ({ server }: { readonly server: string }) => {
    network = await startTcpProxy(Number(new URL(server).port));
    return { server: `https://127.0.0.1:${network.port}`, close: network.close };
  };
  // Without an answer about its token, a Lumigo is ready only after 30 s.
  sink = await OtlpSink.start();
  operator = await startOperator({ audit: true, through, config: { endpoint: sink.url } });
  await runOperatorPods(operator);
  namespace = await instrumentMany();
  await run('check --wait 60');
  // The commands are measured after Kubernetes' own controllers have settled.
  await waitForRest(async () => (await list()).map(({ metadata }) => metadata.resourceVersion), 2_000);
}, 300_000);
afterAll(async () => {
  await operator?.stop();
  await sink?.close();
});

const { deployment } = workloadKinds;

async function instrumentMany(): Promise<string> {
  const many = await instrumentedAndProtected(operator);
  const names = Array.from({ length: WORKLOADS - 1 }, (_, index) => `app-${index}`);
  await forEachConcurrent(
    12,
    names,
    async (name) => void (await operator.testCluster.create(createWorkload(deployment, many, name))),
  );
  await eventually(async () => expect(await count(many)).toBe(WORKLOADS), { timeoutMs: 120_000, intervalMs: 500 });
  return many;
}

const list = (within = namespace) => listAll(operator.cluster.client, { ...deployment, namespace: within });

const count = async (within?: string): Promise<number> =>
  (await list(within)).filter((item) => JSON.stringify(item['spec']).includes('lumigo-injector')).length;

const run = (line: string, kubeconfig = operator.cluster.kubeconfig) => {
  const args = [...line.split(' '), '-n', namespace, '--kubeconfig', kubeconfig];
  return runCommand(args, { HOME: '/nonexistent' });
};

async function measure(line: string, kubeconfig?: string) {
  const started = performance.now();
  const { code, stderr } = await run(line, kubeconfig);
  return { code, stderr, seconds: (performance.now() - started) / 1_000 };
}

it.each([
  ['explain deployment/app-7', 1.5],
  ['check', 3],
  ['status', 3],
])('lumigo %s answers within %f s after its start in a namespace with 300 workloads', async (line, maxSeconds) => {
  const bound = maxSeconds * Math.max(1, WORKLOADS / 300);
  const least = { start: Infinity, whole: Infinity };
  let tries = 0;
  // Other programs on this machine only add time, so the least of up to three tries counts.
  do {
    // Without its kubeconfig, the program ends after Node.js has started and loaded the command.
    const start = await measure(line, '/nonexistent');
    expect(start.code).toBe(2);
    const { code, stderr, seconds } = await measure(line);
    const took = `${seconds.toFixed(2)} s, and its start ${start.seconds.toFixed(2)} s`;
    process.stderr.write(`      lumigo ${line}: ${took}\n`);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    least.start = Math.min(least.start, start.seconds);
    least.whole = Math.min(least.whole, seconds);
    tries += 1;
  } while (tries < 3 && least.whole - least.start >= bound);
  expect(least.whole - least.start).toBeLessThan(bound);
});

/** The probe's changes are left out. */
const changes = (): AuditEntry[] =>
  operatorRequests(operator.cluster, operator.installation).filter(
    ({ verb, objectRef, requestURI }) =>
      verb === 'patch' && objectRef?.resource === 'deployments' && !requestURI.includes('dryRun'),
  );

/** The time at which the leader noticed its signal, by its log. */
const leaderStoppedAt = (): number =>
  Date.parse(/"time":"([^"]+)","signal":"SIGTERM"/.exec(readFileSync(operator.manager().logFile, 'utf8'))?.[1] ?? '');

const getProcess = ({ user }: AuditEntry): string => String(user.extra?.['authentication.kubernetes.io/credential-id']);

describe('a removal with many workloads', () => {
  it('is done by one of two replicas, many at a time, while the account has its rights [F42]', async () => {
    const { client } = operator.cluster;
    const late = await removeInstrumentation(client, { kept: new Set(), traced: new Set() }, 0);
    expect(late.removed).toBe(0);
    expect(late.problems).toEqual([
      expect.stringMatching(
        new RegExp(
          `^the deadline passed with ${WORKLOADS} still instrumented: Deployment ${namespace}/app, (Deployment .*, ){4}and ${WORKLOADS - 5} more\\. The event`,
        ),
      ),
    ]);
    const another = await operator.startAnother();
    const before = changes().length;
    network?.delayAnswers(SLOW_MS);
    const started = Date.now();
    let tookMs = 0;
    await destroy(operator.cluster, [operator.installation.manifests], async () => {
      await Promise.all([operator.stopManager(), another.stop()]);
      tookMs = Date.now() - started;
    });
    if (WORKLOADS > 300) process.stderr.write(`${WORKLOADS} workloads: ${tookMs} ms, left ${await count()}\n`);
    expect(await count()).toBe(0);
    const made = () => changes().slice(before);
    // The audit log is written a moment after the answer. Conflicts are retried, and the leader's end cuts off some
    // writes.
    const attempted = () => made().filter(({ responseStatus }) => responseStatus?.code !== 409);
    const getNames = (entries: readonly AuditEntry[]) => new Set(entries.map(({ objectRef }) => objectRef?.name));
    await eventually(() => expect(getNames(attempted()).size).toBe(WORKLOADS));
    const answered = attempted().filter(({ responseStatus }) => responseStatus?.code === 200);
    expect(answered).toHaveLength(getNames(answered).size);
    expect(attempted().length - answered.length).toBeLessThanOrEqual(IN_FLIGHT);
    const ended = leaderStoppedAt() + STOPPING_MS;
    const afterwards = made().filter(({ requestReceivedTimestamp: at }) => Date.parse(at) > ended);
    expect(new Set(afterwards.map(getProcess)).size).toBe(1);
    expect(tookMs).toBeLessThan(Math.max(MAX_DURATION_MS, WORKLOADS * 20));
  }, 300_000);
});
