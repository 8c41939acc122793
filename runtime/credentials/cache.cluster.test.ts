import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pino from 'pino';
import { TestCluster } from '../../sandbox/testing/test-cluster.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { tokenOf } from '../../sandbox/testing/telemetry.ts';
import { CredentialCache } from './cache.ts';
import { secretReader } from './credential.ts';

/** The cache over a real API server; the tests turn its clock. */
let cluster: ControlPlane;
let bench: TestCluster;
beforeAll(async () => {
  cluster = await startControlPlane({ controllerManager: false });
  bench = new TestCluster(cluster.client);
});
afterAll(() => cluster?.stop());

let cache: CredentialCache;
let clock: { now: number };
let reads: number;
let changes: string[];
let namespace: string;
let stop: AbortController;
let running: Promise<void>;

beforeEach(async () => {
  [clock, reads, changes, stop] = [{ now: 1_000_000 }, 0, [], new AbortController()];
  namespace = await bench.namespace('cache');
  const read = secretReader(cluster.client);
  cache = new CredentialCache({
    readSecret: (...secret) => {
      reads += 1;
      return read(...secret);
    },
    logger: pino({ enabled: false }),
    now: () => clock.now,
    random: () => 0,
  });
  cache.changed.on((of) => changes.push(of), stop.signal);
  running = cache.run(stop.signal);
});
afterEach(async () => {
  stop.abort();
  await running;
});

const source = (key = 'token', more: object = {}) => ({ namespace, name: 'lumigo-credentials', key, ...more });
const secret = { group: '', version: 'v1', plural: 'secrets', name: 'lumigo-credentials' };

const whenRead = (count: number) => eventually(() => expect(reads).toBe(count));
const whenIs = (expected: object, key = 'token') =>
  eventually(() => expect(cache.get(source(key))).toMatchObject(expected));

/** Lets time pass, and the cache notice it. */
function pass(ms: number): void {
  clock.now += ms;
  cache.lead(true);
}

describe('F9: the cache of credentials', () => {
  it('reads a Secret once for all its keys and users, and tells its version', async () => {
    await bench.secret(namespace, tokenOf(1));
    cache.want('a', [source(), source('other')]);
    cache.want('b', [source()]);
    expect(cache.get(source())).toBeUndefined();
    const { metadata } = await cluster.client.get({ ...secret, namespace });
    await whenIs({ token: tokenOf(1), version: metadata.resourceVersion });
    await whenIs({ problem: { reason: 'SecretKeyNotFound' }, version: metadata.resourceVersion }, 'other');
    expect(reads).toBe(1);
    expect(changes).toEqual([namespace]);
  });

  it('says without reading that nothing is named', () => {
    cache.want('a', [source('')]);
    expect(cache.get(source(''))).toMatchObject({ problem: { reason: 'SecretReferenceMissing' } });
  });

  it('reads at once what is changed, and what the leader has read a later version of, but not its own', async () => {
    await bench.secret(namespace, tokenOf(1));
    cache.want('a', [source('token', { revision: '1' })]);
    await whenIs({ token: tokenOf(1) });
    const version = cache.get(source())?.version;
    cache.want('a', [source('token', { revision: '1', announced: version })]);
    clock.now += 2_000;
    cache.want('a', [source('token', { revision: '2', announced: version })]);
    await whenRead(2);
    await bench.secret(namespace, tokenOf(2));
    clock.now += 2_000;
    cache.want('a', [source('token', { revision: '2', announced: 'another' })]);
    await whenIs({ token: tokenOf(2) });
    expect(reads).toBe(3);
  });

  it('forgets what nobody wants any more', async () => {
    await bench.secret(namespace, tokenOf(1));
    cache.want('a', [source()]);
    cache.want('b', [source()]);
    await whenIs({ token: tokenOf(1) });
    cache.want('a', []);
    expect(cache.get(source())).toBeDefined();
    cache.want('b', []);
    expect(cache.get(source())).toBeUndefined();
  });

  it('passes over a Secret that is away for a moment because somebody replaces it', async () => {
    await bench.secret(namespace, tokenOf(1));
    cache.want('a', [source()]);
    await whenIs({ token: tokenOf(1) });
    await cluster.client.delete({ ...secret, namespace });
    pass(15_000);
    await whenRead(2);
    expect(cache.get(source())).toMatchObject({ token: tokenOf(1) });
    await bench.secret(namespace, tokenOf(2));
    pass(1_000);
    await whenIs({ token: tokenOf(2) });
  });

  it('believes it when it is away still', async () => {
    await bench.secret(namespace, tokenOf(1));
    cache.want('a', [source()]);
    await whenIs({ token: tokenOf(1) });
    await cluster.client.delete({ ...secret, namespace });
    pass(15_000);
    await whenRead(2);
    pass(1_000);
    await whenIs({ problem: { reason: 'SecretNotFound' } });
  });

  it('keeps what it knows while the API server does not answer, and says of what it never read that it cannot', async () => {
    await bench.secret(namespace, tokenOf(1));
    cache.want('a', [source()]);
    await whenIs({ token: tokenOf(1) });
    const server = cluster.pids()['apiserver'] ?? 0;
    process.kill(server, 'SIGKILL');
    const unknown = { namespace, name: 'unknown', key: 'token' };
    clock.now += 1_000;
    cache.want('b', [unknown]);
    // A second and two later it is tried again; what fails three times is told.
    for (const count of [2, 3]) {
      await whenRead(count);
      expect(cache.get(unknown)).toBeUndefined();
      // The answer is awaited before time goes on.
      await eventually(() => {
        pass(2_000);
        expect(reads).toBe(count + 1);
      });
    }
    await eventually(() => expect(cache.get(unknown)).toMatchObject({ problem: { reason: 'SecretUnreadable' } }));
    const tried = reads;
    await eventually(() => {
      pass(15_000);
      expect(reads).toBeGreaterThan(tried + 3);
    });
    expect(cache.get(source())).toMatchObject({ token: tokenOf(1) });
    await cluster.restartApiServer();
    await eventually(() => {
      pass(30_000);
      expect(cache.get(unknown)).toMatchObject({ problem: { reason: 'SecretNotFound' } });
    });
    expect(cache.get(source())).toMatchObject({ token: tokenOf(1) });
  });
});
