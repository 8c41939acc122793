import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { operatorRequests, type AuditEntry } from '../../sandbox/testing/audit.ts';
import { destroy } from '../../sandbox/testing/destroy.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { instrumentedAndProtected } from '../../sandbox/testing/protection.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { startTcpProxy, type TcpProxy } from '../../sandbox/testing/tcp-proxy.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { forEachConcurrent } from '../async/for-each-concurrent.ts';
import { workloadKinds } from '../contract.ts';
import { removeInstrumentation } from './remove-instrumentation.ts';

/** One after the other, so many writes would exceed the time for which a deleted account still has its rights. */
const WORKLOADS = Number(process.env['LUMIGO_REMOVED_WORKLOADS'] ?? 300);
/** Milliseconds per answer: the leader cannot finish before its end, and 300 sequential writes exceed the bound. */
const SLOW_MS = WORKLOADS > 300 ? 0 : 120;
const MAX_DURATION_MS = 30_000;
/** A leader has at most this number of writes in progress when it stops. */
const IN_FLIGHT = 16;
/** A leader may send a write that it has begun for this time after the signal. */
const STOPPING_MS = 1_000;

let operator: OperatorBench;
let network: TcpProxy | undefined;
beforeAll(async () => {
  const through = async ({ server }: { readonly server: string }) => {
    network = await startTcpProxy(Number(new URL(server).port));
    return `https://127.0.0.1:${network.port}`;
  };
  operator = await startOperator({ audit: true, through });
});
afterAll(async () => {
  await operator?.stop();
  await network?.close();
});

const { deployment } = workloadKinds;

async function instrumentMany(): Promise<{ namespace: string; count: () => Promise<number> }> {
  const { testCluster, cluster } = operator;
  const namespace = await instrumentedAndProtected(operator);
  const names = Array.from({ length: WORKLOADS - 1 }, (_, index) => `app-${index}`);
  await forEachConcurrent(
    12,
    names,
    async (name) => void (await testCluster.create(createWorkload(deployment, namespace, name))),
  );
  const count = async () => {
    let found = 0;
    for await (const { items } of cluster.client.pages({ ...deployment, namespace }))
      found += items.filter((item) => JSON.stringify(item['spec']).includes('lumigo-injector')).length;
    return found;
  };
  await eventually(async () => expect(await count()).toBe(WORKLOADS), { timeoutMs: 120_000, intervalMs: 500 });
  return { namespace, count };
}

/** The probe's changes are left out. */
const changes = (): AuditEntry[] =>
  operatorRequests(operator.cluster, operator.installation).filter(
    ({ verb, objectRef, requestURI }) =>
      verb === 'patch' && objectRef?.resource === 'deployments' && !requestURI.includes('dryRun'),
  );

const getProcess = ({ user }: AuditEntry): string => String(user.extra?.['authentication.kubernetes.io/credential-id']);

describe('a removal with many workloads', () => {
  it('is done by one of two replicas, many at a time, while the account has its rights [F42]', async () => {
    const { client } = operator.cluster;
    const { namespace, count } = await instrumentMany();
    const late = await removeInstrumentation(client, ({ metadata }) => metadata.namespace === namespace, 0);
    expect(late.removed).toBe(0);
    expect(late.problems).toEqual([
      expect.stringMatching(
        new RegExp(
          `^the deadline passed with ${WORKLOADS} still instrumented: Deployment ${namespace}/app, (Deployment .*, ){4}…$`,
        ),
      ),
    ]);
    const another = await operator.startAnother();
    const before = changes().length;
    network?.delayAnswers(SLOW_MS);
    const started = Date.now();
    let [ended, tookMs] = [0, 0];
    await destroy(operator.cluster, [operator.installation.manifests], async () => {
      ended = Date.now();
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
    const afterwards = made().filter(({ requestReceivedTimestamp: at }) => Date.parse(at) > ended + STOPPING_MS);
    expect(new Set(afterwards.map(getProcess)).size).toBe(1);
    expect(tookMs).toBeLessThan(Math.max(MAX_DURATION_MS, WORKLOADS * 20));
  }, 300_000);
});
