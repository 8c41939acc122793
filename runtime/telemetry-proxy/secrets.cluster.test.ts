import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { labels, telemetryProxyFiles, workloadKinds } from '../contract.ts';
import { operatorRequests } from '../../sandbox/testing/audit.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { tokenOf } from '../../sandbox/testing/telemetry.ts';
import { workloadOf } from '../../sandbox/testing/workloads.ts';

/** Two replicas, and how often both together ask for Secrets. */
let operator: OperatorBench;
beforeAll(async () => {
  operator = await startOperator({ controllerManager: false, audit: true });
  await operator.startAnother();
});
afterAll(() => operator?.stop());

const { deployment } = workloadKinds;
const replicas = ['manager-0', 'manager-1'];
const secretRef = (namespace: string, name = 'lumigo-credentials') => ({
  group: '',
  version: 'v1',
  plural: 'secrets',
  namespace,
  name,
});

/** What a change takes on its way from one replica's status to the other's file, beside the interval of reading. */
const CARRIED_MS = 2_000;

const requests = (): number =>
  operatorRequests(operator.cluster, operator.installation).filter(({ objectRef }) => objectRef?.resource === 'secrets')
    .length;

const letInBy = (replica: string): readonly string[] =>
  readFileSync(join(operator.cluster.dir, replica, 'telemetry-proxy', telemetryProxyFiles.tokens), 'utf8').split('\n');

/** Waits until both replicas let a token in, or neither does. */
const whenLetIn = (token: string, expected: boolean, timeoutMs: number) =>
  eventually(() => expect(replicas.map((replica) => letInBy(replica).includes(token))).toEqual([expected, expected]), {
    timeoutMs,
  });

const whenError = (namespace: string, reason: string, timeoutMs: number) =>
  eventually(
    async () => {
      const { status } = await operator.bench.readLumigo(namespace);
      expect(status?.conditions?.find(({ type }) => type === 'Error')).toMatchObject({ reason });
    },
    { timeoutMs },
  );

/** Requests for Secrets by both replicas in a minute without a change. */
async function requestsPerMinute(): Promise<number> {
  const before = requests();
  await sleep(60_000);
  return requests() - before;
}

describe('where there is one Lumigo', () => {
  let namespace = '';
  beforeAll(async () => {
    namespace = await operator.bench.namespace('one');
    await operator.bench.activate(namespace, {}, tokenOf(1));
    await whenLetIn(tokenOf(1), true, 10_000);
  });

  it('F9: two replicas ask for its Secret at most four times a minute', async () => {
    expect(await requestsPerMinute()).toBeLessThanOrEqual(4);
  });

  it('F9: a token that is replaced acts on both within 15 s, and the former one is let in still', async () => {
    await operator.bench.secret(namespace, tokenOf(2));
    await whenLetIn(tokenOf(2), true, 15_000 + CARRIED_MS);
    await whenLetIn(tokenOf(1), true, 0);
  });

  it('F9: whoever changes the Lumigo has its Secret read at once', async () => {
    await operator.bench.secret(namespace, tokenOf(3));
    await operator.bench.changeLumigo(namespace, { metadata: { annotations: { read: 'now' } } });
    await whenLetIn(tokenOf(3), true, 5_000);
  });

  it('F9: one that is taken away shuts out within 15 s, and acts within 5 s when it is back', async () => {
    await operator.cluster.client.delete(secretRef(namespace));
    await whenError(namespace, 'SecretNotFound', 15_000 + CARRIED_MS);
    await whenLetIn(tokenOf(3), false, CARRIED_MS);
    await operator.bench.secret(namespace, `${tokenOf(4)} `);
    await whenError(namespace, 'TokenMalformed', 5_000);
    await operator.bench.secret(namespace, tokenOf(4));
    await whenLetIn(tokenOf(4), true, 5_000);
    await operator.bench.whenActive(namespace);
  });
});

describe('where there are 60, and as many workloads with a Secret of their own', () => {
  const COUNT = 60;
  let single = '';
  beforeAll(async () => {
    const { bench } = operator;
    single = await bench.namespace('single');
    const own = (index: number) => ({ [labels.autoTrace]: 'true', [labels.tokenSecret]: `own-${index}` });
    for (let index = 0; index < COUNT; index += 1) {
      const namespace = await bench.namespace('many');
      await bench.secret(namespace, tokenOf(100 + index));
      await bench.lumigo(namespace);
      await bench.secret(single, tokenOf(200 + index), `own-${index}`);
      await bench.create(workloadOf(deployment, single, `app-${index}`, { labels: own(index) }));
    }
    for (let index = 0; index < COUNT; index += 1)
      for (const base of [100, 200]) await whenLetIn(tokenOf(base + index), true, 30_000);
  }, 120_000);

  it('F9: two replicas together ask at most once a second', async () => {
    expect(await requestsPerMinute()).toBeLessThanOrEqual(60);
  });

  it('F9: an awaited Secret is not held up by the others', async () => {
    const namespace = await operator.bench.namespace('awaited');
    await operator.bench.lumigo(namespace);
    await whenError(namespace, 'SecretNotFound', 5_000);
    // It is looked for by its turn from now on, not because it is new.
    await sleep(10_000);
    await operator.bench.secret(namespace, tokenOf(5));
    await whenLetIn(tokenOf(5), true, 5_000);
  });

  it('F9: who rolls a workload out with another token of its own has it read at once by both', async () => {
    const { bench } = operator;
    await bench.secret(single, tokenOf(6), 'own-0');
    await bench.merge(deployment, single, 'app-0', { spec: { paused: true } });
    await whenLetIn(tokenOf(6), true, 5_000);
  });
});
