import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pino from 'pino';
import { accountIn } from '../../sandbox/testing/account.ts';
import { TestCluster } from '../../sandbox/testing/test-cluster.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { getToken } from '../../sandbox/testing/telemetry.ts';
import { CredentialCache } from './cache.ts';
import { secretReader, type ReadSecret } from './credential.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';

let cluster: ControlPlane;
let testCluster: TestCluster;
beforeAll(async () => {
  cluster = await startControlPlane({ controllerManager: false });
  testCluster = new TestCluster(cluster.client);
});
afterAll(() => cluster?.stop());

let cache: CredentialCache;
let clock: { now: number };
let read: ReadSecret;
let reads: number;
let changes: string[];
let namespace: string;
let stop: AbortController;
let running: Promise<void>;

beforeEach(async () => {
  [clock, reads, changes, stop] = [{ now: 1_000_000 }, 0, [], new AbortController()];
  namespace = await testCluster.namespace('cache');
  read = secretReader(cluster.client);
  cache = new CredentialCache({
    readSecret: (...secret) => {
      reads += 1;
      return read(...secret);
    },
    logger: pino({ enabled: false }),
    now: () => clock.now,
  });
  cache.changed.on((of) => changes.push(of), stop.signal);
  running = cache.run(stop.signal);
});
afterEach(async () => {
  stop.abort();
  await running;
});

const source = (key = 'token', more: object = {}) => ({ namespace, name: 'lumigo-credentials', key, ...more });
const secret = { ...kinds.secrets, name: 'lumigo-credentials' };
const bindings = { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'rolebindings' };

const waitForReads = (count: number) => eventually(() => expect(reads).toBe(count));
const waitForValue = (expected: object, key = 'token') =>
  eventually(() => expect(cache.get(source(key))).toMatchObject(expected));

function pass(ms: number, leads = true): void {
  clock.now += ms;
  cache.lead(leads);
}

/** The clock may pass on before the answer to a request is there. */
const waitWhilePassing = (expected: object, of = source()) =>
  eventually(() => {
    pass(1_000);
    expect(cache.get(of)).toMatchObject(expected);
  });

describe('the cache of credentials [F9]', () => {
  it('reads a Secret once for all its keys and users, and returns its version', async () => {
    await testCluster.secret(namespace, getToken(1));
    cache.want('a', [source(), source('other')]);
    cache.want('b', [source()]);
    expect(cache.get(source())).toBeUndefined();
    const { metadata } = await cluster.client.get({ ...secret, namespace });
    await waitForValue({ token: getToken(1), version: metadata.resourceVersion });
    await waitForValue({ problem: { reason: 'SecretKeyNotFound' }, version: metadata.resourceVersion }, 'other');
    expect(reads).toBe(1);
    expect(changes).toEqual([namespace]);
  });

  it.each(['', '.', '..', 'a/b', 'a%b'])("answers without a request if the name is '%s', which none has", (name) => {
    cache.want('a', [{ ...source(), name }]);
    expect(cache.get({ ...source(), name })).toMatchObject({ problem: { reason: 'SecretReferenceMissing' } });
  });

  it('reads a changed Secret at once, and one that the leader reports, but not its own report', async () => {
    await testCluster.secret(namespace, getToken(1));
    cache.want('a', [source('token', { revision: '1' })]);
    await waitForValue({ token: getToken(1) });
    const version = cache.get(source())?.version;
    cache.want('a', [source('token', { revision: '1', announced: version })]);
    clock.now += 3_000;
    cache.want('a', [source('token', { revision: '2', announced: version })]);
    await waitForReads(2);
    await testCluster.secret(namespace, getToken(2));
    clock.now += 3_000;
    cache.want('a', [source('token', { revision: '2', announced: 'another' })]);
    await waitForReads(3);
    await waitForValue({ token: getToken(2) });
    expect(reads).toBe(3);
  });

  it('forgets a Secret that is no longer used', async () => {
    await testCluster.secret(namespace, getToken(1));
    cache.want('a', [source()]);
    cache.want('b', [source()]);
    await waitForValue({ token: getToken(1) });
    cache.want('a', []);
    expect(cache.get(source())).toBeDefined();
    cache.want('b', []);
    expect(cache.get(source())).toBeUndefined();
  });

  it.each([
    ['keeps the value of a Secret that is absent for a moment because a tool replaces it', true],
    ['reports a Secret as absent if it stays absent', false],
  ])('%s', async (_title, isReplaced) => {
    await testCluster.secret(namespace, getToken(1));
    cache.want('a', [source()]);
    await waitForValue({ token: getToken(1) });
    await cluster.client.delete({ ...secret, namespace });
    pass(16_000);
    await waitForReads(2);
    expect(cache.get(source())).toMatchObject({ token: getToken(1) });
    if (isReplaced) await testCluster.secret(namespace, getToken(2));
    await waitWhilePassing(isReplaced ? { token: getToken(2) } : { problem: { reason: 'SecretNotFound' } });
  });

  it('keeps a token whose Secret is forbidden for ten minutes, because a right may return', async () => {
    const account = await accountIn(cluster, namespace, 'cluster-admin');
    const binding = { ...bindings, namespace, name: account.name };
    const manifest = await cluster.client.get(binding);
    read = secretReader(account.client);
    await testCluster.secret(namespace, getToken(1));
    await eventually(() => account.client.get({ ...secret, namespace }));
    cache.want('a', [source()]);
    await waitForValue({ token: getToken(1) });
    await cluster.client.delete(binding);
    await eventually(() => expect(account.client.get({ ...secret, namespace })).rejects.toThrow('forbidden'));
    for (const start = clock.now; clock.now < start + 9 * 60_000;) {
      const tried = reads;
      await eventually(() => {
        pass(10_000);
        expect(reads).toBeGreaterThan(tried);
      });
      expect(cache.get(source())).toMatchObject({ token: getToken(1) });
    }
    cache.want('a', [source(), source('other')]);
    await waitWhilePassing({ problem: { reason: 'SecretForbidden' } }, source('other'));
    expect(cache.get(source())).toMatchObject({ token: getToken(1) });
    pass(2 * 60_000);
    await waitWhilePassing({ problem: { reason: 'SecretForbidden' } });
    const unknown = { ...source(), name: 'unknown' };
    cache.want('b', [unknown]);
    await waitWhilePassing({ problem: { reason: 'SecretForbidden' } }, unknown);
    const { resourceVersion: _version, uid: _uid, ...metadata } = manifest.metadata;
    await testCluster.create({ ...manifest, metadata } as never);
    await waitWhilePassing({ token: getToken(1) });
    account.close();
  });

  it('learns nothing while everything is forbidden for a moment, as by an API server that starts', async () => {
    const account = await accountIn(cluster, namespace, 'cluster-admin');
    const binding = { ...bindings, namespace, name: account.name };
    const { metadata, ...manifest } = await cluster.client.get(binding);
    await testCluster.secret(namespace, getToken(1));
    await cluster.client.delete(binding);
    await eventually(() => expect(account.client.get({ ...secret, namespace })).rejects.toThrow('forbidden'));
    let answers = 0;
    read = (...names) => secretReader(account.client)(...names).finally(() => (answers += 1));
    cache.want('a', [source()]);
    await eventually(() => expect(answers).toBe(1));
    pass(600);
    await eventually(() => expect(answers).toBe(2));
    await testCluster.create({ ...manifest, metadata: { namespace, name: metadata.name } } as never);
    await eventually(() => account.client.get({ ...secret, namespace }));
    await waitWhilePassing({ token: getToken(1) });
    expect(changes).toEqual([namespace]);
    account.close();
  });

  it('reads a forbidden Secret soon after news, and otherwise at the pace of all others', async () => {
    const account = await accountIn(cluster, namespace, 'cluster-admin');
    await cluster.client.delete({ ...bindings, namespace, name: account.name });
    const forbidden = () => expect(account.client.get({ ...secret, namespace })).rejects.toThrow('forbidden');
    await eventually(forbidden);
    const names: string[] = [];
    read = (of, name) => {
      names.push(name);
      return secretReader(account.client)(of, name);
    };
    const others = Array.from({ length: 20 }, (_, index) => ({ ...source(), name: `other-${index}` }));
    cache.want('a', [source('token', { revision: '1' }), ...others]);
    const isForbidden = { problem: { reason: 'SecretForbidden' } };
    for (const each of [source(), ...others]) await waitWhilePassing(isForbidden, each);
    const before = names.length;
    for (let second = 0; second < 60; second += 1) {
      pass(1_000, false);
      await forbidden();
    }
    expect(names.length - before).toBeLessThanOrEqual(8);
    const own = () => names.filter((name) => name === source().name).length;
    for (const revision of ['2', '3', '4', '5', '6', '7']) {
      await forbidden();
      pass(3_000, false);
      const known = own();
      cache.want('a', [source('token', { revision }), ...others]);
      await eventually(() => expect(own()).toBeGreaterThan(known));
    }
    account.close();
  });

  it('keeps its values while the API server is down, and says which it never read', async () => {
    await testCluster.secret(namespace, getToken(1));
    cache.want('a', [source()]);
    await waitForValue({ token: getToken(1) });
    const server = cluster.pids()['apiserver'] ?? 0;
    process.kill(server, 'SIGKILL');
    // A dying process keeps its sockets open, so requests to it hang.
    await eventually(() => expect(cluster.client.get({ ...secret, namespace })).rejects.toThrow('ECONNREFUSED'));
    const unknown = { namespace, name: 'unknown', key: 'token' };
    clock.now += 1_000;
    cache.want('b', [unknown]);
    // It retries after one and two seconds, and logs the third failure.
    for (const count of [2, 3]) {
      await waitForReads(count);
      expect(cache.get(unknown)).toBeUndefined();
      // The clock must not advance before the answer is there.
      await eventually(() => {
        pass(2_000);
        expect(reads).toBe(count + 1);
      });
    }
    await eventually(() => expect(cache.get(unknown)).toMatchObject({ problem: { reason: 'SecretUnreadable' } }));
    const tried = reads;
    const all = [unknown, ...[1, 2, 3].map((index) => ({ ...unknown, name: `unknown-${index}` }))];
    const having = (reason: string) => all.filter((each) => cache.get(each)?.problem?.reason === reason);
    cache.want('b', all);
    await eventually(() => {
      pass(15_000);
      expect(reads).toBeGreaterThan(tried + 3);
      expect(having('SecretUnreadable')).toEqual(all);
    });
    expect(cache.get(source())).toMatchObject({ token: getToken(1) });
    await cluster.restartApiServer();
    clock.now += 30_000;
    // A replica that does not lead reads them at the pace of news, too.
    for (const count of all.keys()) {
      pass(500, false);
      await eventually(() => expect(having('SecretNotFound')).toHaveLength(count + 1));
    }
    expect(cache.get(source())).toMatchObject({ token: getToken(1) });
  });
});
