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

/** A change takes this long from one replica's status to the other's file, in addition to the interval of reading. */
const CARRIED_MS = 2_000;

const requests = (): number =>
  operatorRequests(operator.cluster, operator.installation).filter(({ objectRef }) => objectRef?.resource === 'secrets')
    .length;

const letInBy = (replica: string): readonly string[] =>
  readFileSync(join(operator.cluster.dir, replica, 'telemetry-proxy', telemetryProxyFiles.tokens), 'utf8').split('\n');

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

async function requestsPerMinute(): Promise<number> {
  const before = requests();
  await sleep(60_000);
  return requests() - before;
}

describe('with one Lumigo', () => {
  let namespace = '';
  beforeAll(async () => {
    namespace = await operator.bench.namespace('one');
    await operator.bench.activate(namespace, {}, tokenOf(1));
    await whenLetIn(tokenOf(1), true, 10_000);
  });

  it('two replicas read its Secret at most four times a minute [F9]', async () => {
    expect(await requestsPerMinute()).toBeLessThanOrEqual(4);
  });

  it('a replaced token takes effect on both in 15 s, and the former one stays accepted [F9]', async () => {
    await operator.bench.secret(namespace, tokenOf(2));
    await whenLetIn(tokenOf(2), true, 15_000 + CARRIED_MS);
    await whenLetIn(tokenOf(1), true, 0);
  });

  it('a change of the Lumigo makes both read its Secret at once [F9]', async () => {
    await operator.bench.secret(namespace, tokenOf(3));
    await operator.bench.changeLumigo(namespace, { metadata: { annotations: { read: 'now' } } });
    await whenLetIn(tokenOf(3), true, 5_000);
  });

  it('a deleted token is refused within 15 s, and accepted within 5 s when it is back [F9]', async () => {
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

describe('with 60 Lumigo resources, and as many workloads with a Secret of their own', () => {
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

  it('two replicas together send at most one request a second [F9]', async () => {
    expect(await requestsPerMinute()).toBeLessThanOrEqual(60);
  });

  it('an awaited Secret is not delayed by the others [F9]', async () => {
    const namespace = await operator.bench.namespace('awaited');
    await operator.bench.lumigo(namespace);
    await whenError(namespace, 'SecretNotFound', 5_000);
    await sleep(10_000);
    await operator.bench.secret(namespace, tokenOf(5));
    await whenLetIn(tokenOf(5), true, 5_000);
  });

  it("a workload's rollout with another token of its own makes both read it at once [F9]", async () => {
    const { bench } = operator;
    await bench.secret(single, tokenOf(6), 'own-0');
    await bench.merge(deployment, single, 'app-0', { spec: { paused: true } });
    await whenLetIn(tokenOf(6), true, 5_000);
  });
});
