import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { aborted } from '../async/aborted.ts';
import { labels, nodeCollectorFiles, suffixes, telemetryProxyFiles, workloadKinds } from '../contract.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import type { ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { startApiProxy, type ApiProxy } from '../../sandbox/faults/api-proxy.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { getToken } from '../../sandbox/testing/telemetry.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';

let operator: OperatorBench;
let proxy: ApiProxy;
beforeAll(async () => {
  const through = async (cluster: ControlPlane) => (proxy = await startApiProxy(cluster));
  const settings = { clusterCollection: { logs: { enabled: true } } };
  operator = await startOperator({ controllerManager: false, settings, through });
  await operator.startAnother();
});
afterEach(() => {
  proxy.interfere = undefined;
});
afterAll(async () => {
  await operator?.stop();
});

const { deployment } = workloadKinds;
const replicas = ['manager-0', 'manager-1'];

/** A change takes this long from one replica's status to the other's file, in addition to the interval of reading. */
const CARRIED_MS = 10_000;
/** A replica waits for a Secret that is missing, because a tool may replace it. */
const MISSED_MS = 11_000;
/** A Secret that a `Lumigo` waits for is read at least this often. */
const AWAITED_MS = 5_000;

const linesOf = (replica: string, file: string): readonly string[] =>
  readFileSync(join(operator.cluster.dir, replica, 'telemetry-proxy', file), 'utf8').split('\n');

const tokensAcceptedBy = (replica: string) => linesOf(replica, telemetryProxyFiles.tokens);

const waitForAdmission = (token: string, expected: boolean, timeoutMs: number) =>
  eventually(
    () => expect(replicas.map((replica) => tokensAcceptedBy(replica).includes(token))).toEqual([expected, expected]),
    { timeoutMs },
  );

const waitForError = (namespace: string, reason: string, timeoutMs: number) =>
  eventually(async () => expect(await operator.testCluster.condition(namespace, 'Error')).toMatchObject({ reason }), {
    timeoutMs,
  });

describe('with one Lumigo', () => {
  let namespace = '';
  beforeAll(async () => {
    namespace = await operator.testCluster.namespace('one');
    await operator.testCluster.activate(namespace, {}, getToken(1));
    await waitForAdmission(getToken(1), true, 10_000);
  });

  it('a replaced token takes effect on both in 15 s, and the former one stays accepted [F9]', async () => {
    await operator.testCluster.secret(namespace, getToken(2));
    await waitForAdmission(getToken(2), true, 15_000 + CARRIED_MS);
    await waitForAdmission(getToken(1), true, 0);
    // The leader announces what it read, so that others do not read each Secret as well.
    const ref = { ...kinds.secrets, namespace, name: 'lumigo-credentials' };
    const { resourceVersion } = (await operator.cluster.client.get(ref)).metadata;
    const announced = async () => (await operator.testCluster.readLumigo(namespace)).status?.secretVersion;
    await eventually(async () => expect(await announced()).toBe(resourceVersion));
  });

  it('a change of the Lumigo makes both read its Secret at once [F9]', async () => {
    await operator.testCluster.secret(namespace, getToken(3));
    await operator.testCluster.changeLumigo(namespace, { metadata: { annotations: { read: 'now' } } });
    await waitForAdmission(getToken(3), true, AWAITED_MS + CARRIED_MS);
  });

  it('a deleted token is refused within a minute, and accepted within 5 s when it is back [F9]', async () => {
    await operator.cluster.client.delete({ ...kinds.secrets, namespace, name: 'lumigo-credentials' });
    await waitForError(namespace, 'SecretNotFound', 15_000 + MISSED_MS + CARRIED_MS);
    await waitForAdmission(getToken(3), false, MISSED_MS + CARRIED_MS);
    await operator.testCluster.secret(namespace, `${getToken(4)} `);
    await waitForError(namespace, 'TokenMalformed', AWAITED_MS + CARRIED_MS);
    await operator.testCluster.secret(namespace, getToken(4));
    await waitForAdmission(getToken(4), true, AWAITED_MS + CARRIED_MS);
    await operator.testCluster.waitForActive(namespace);
  });

  it('the former tokens stay accepted while a Secret that it names instead is read, and after', async () => {
    await operator.testCluster.secret(namespace, getToken(5), 'other');
    const answers = new AbortController();
    let held = 0;
    proxy.interfere = ({ path }) => {
      if (!path.endsWith('/secrets/other')) return undefined;
      held += 1;
      return { holdAnswer: () => aborted(answers.signal) };
    };
    const secretRef = { name: 'other' };
    await operator.testCluster.changeLumigo(namespace, { spec: { lumigoToken: { secretRef } } });
    await eventually(() => expect(held).toBe(replicas.length), { timeoutMs: CARRIED_MS });
    // A replica that accepts the token of another namespace has looked at the changed reference, too.
    const witness = await operator.testCluster.namespace('witness');
    await operator.testCluster.activate(witness, {}, getToken(6));
    await waitForAdmission(getToken(6), true, CARRIED_MS);
    await waitForAdmission(getToken(4), true, 0);
    await operator.testCluster.deleteLumigo(witness);
    answers.abort();
    await waitForAdmission(getToken(5), true, CARRIED_MS);
    await waitForAdmission(getToken(4), true, 0);
  });

  it('a manager that starts while Secrets cannot be read accepts what it accepted, until they are read', async () => {
    const [first = ''] = replicas;
    const before = tokensAcceptedBy(first);
    expect(before).toEqual(expect.arrayContaining([getToken(4), getToken(5)]));
    proxy.interfere = ({ path }) => (path.includes('/secrets/') ? { answer: 500 } : undefined);
    await operator.stopManager();
    await operator.startManager();
    expect(tokensAcceptedBy(first)).toEqual(before);
    proxy.interfere = undefined;
    await eventually(() => expect(tokensAcceptedBy(first)).toEqual([getToken(5)]), { timeoutMs: 30_000 });
  });
});

describe('with 20 Lumigo resources, and as many workloads with a Secret of their own', () => {
  const COUNT = 20;
  let single = '';
  const optIn = async (namespace: string, index: number, token: string) => {
    const own = { [labels.autoTrace]: 'true', [labels.tokenSecret]: `own-${index}` };
    await operator.testCluster.secret(namespace, token, `own-${index}`);
    await operator.testCluster.create(createWorkload(deployment, namespace, `app-${index}`, { labels: own }));
  };
  beforeAll(async () => {
    const { testCluster } = operator;
    single = await testCluster.namespace('single');
    for (let index = 0; index < COUNT; index += 1) {
      const namespace = await testCluster.namespace('many');
      await testCluster.secret(namespace, getToken(100 + index));
      await testCluster.lumigo(namespace);
      await optIn(single, index, getToken(200 + index));
    }
    for (let index = 0; index < COUNT; index += 1)
      for (const base of [100, 200]) await waitForAdmission(getToken(base + index), true, 30_000);
  });

  it('a replaced key of the node collectors is accepted by both within 15 s', async () => {
    const { namespace, name } = operator.installation.settings;
    const ref = { ...kinds.secrets, namespace, name: `${name}${suffixes.nodeCollector}` };
    // The first turns follow the order of the first reads.
    for (const key of [getToken(7), getToken(8)]) {
      const body = { stringData: { [nodeCollectorFiles.key]: key } };
      await operator.cluster.client.patch(ref, { kind: 'merge', body });
      const keys = () => replicas.map((replica) => linesOf(replica, telemetryProxyFiles.nodeKeys));
      const accepted = Array(replicas.length).fill(expect.arrayContaining([key]));
      await eventually(() => expect(keys()).toEqual(accepted), { timeoutMs: 15_000 });
    }
  });

  it("a workload's rollout with another token of its own makes both read it at once [F9]", async () => {
    const { testCluster } = operator;
    await testCluster.secret(single, getToken(6), 'own-0');
    await testCluster.merge(deployment, single, 'app-0', { spec: { paused: true } });
    await waitForAdmission(getToken(6), true, AWAITED_MS + CARRIED_MS);
  });

  it("the 21st Secret of a namespace's workloads is not read, and that of another namespace is", async () => {
    await optIn(single, 99, getToken(300));
    const other = await operator.testCluster.namespace('other');
    await optIn(other, 0, getToken(301));
    await waitForAdmission(getToken(301), true, CARRIED_MS);
    await waitForAdmission(getToken(300), false, 0);
  });
});

it('a key that every object inherits ends neither of them', async () => {
  const { testCluster } = operator;
  const namespace = await testCluster.namespace('inherited');
  await testCluster.secret(namespace, getToken(9));
  const own = { [labels.autoTrace]: 'true', [labels.tokenKey]: 'toString' };
  await testCluster.create(createWorkload(deployment, namespace, 'app', { labels: own }));
  const toKey = (key: string) => ({ lumigoToken: { secretRef: { name: 'lumigo-credentials', key } } });
  await testCluster.lumigo(namespace, toKey('constructor'));
  await waitForError(namespace, 'SecretKeyNotFound', AWAITED_MS + CARRIED_MS);
  await testCluster.changeLumigo(namespace, { spec: toKey('token') });
  await waitForAdmission(getToken(9), true, AWAITED_MS + CARRIED_MS);
});
