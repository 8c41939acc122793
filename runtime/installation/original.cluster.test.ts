import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pino from 'pino';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { TestCluster } from '../../sandbox/testing/test-cluster.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { originalLease as name } from '../contract.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { waitForEndOfOriginal } from './original.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';

let cluster: ControlPlane;
let testCluster: TestCluster;
beforeAll(async () => {
  cluster = await startControlPlane({ controllerManager: false });
  testCluster = new TestCluster(cluster.client);
});
afterAll(() => cluster?.stop());

const lease = (namespace: string) => ({ ...kinds.leases, namespace, name });
const spec = (holderIdentity: string, leaseDurationSeconds: number) => ({
  ...{ holderIdentity, leaseDurationSeconds },
  renewTime: `${new Date().toISOString().slice(0, -1)}000Z`,
});

const renew = (namespace: string, holder = 'original-0') =>
  cluster.client.patch(lease(namespace), { kind: 'merge', body: { spec: spec(holder, 10) } });

function waitIn(namespace: string) {
  let over = false;
  let said = '';
  let checks = 0;
  const find: Client['find'] = (...asked) => {
    checks += 1;
    return cluster.client.find(...asked);
  };
  void waitForEndOfOriginal({
    client: { ...cluster.client, find },
    installed: { operatorName: 'lumigo-lumigo-operator', operatorNamespace: namespace },
    signal: new AbortController().signal,
    logger: pino({}, { write: (line: string) => void (said += line) }),
  }).then(() => (over = true));
  return { isOver: () => over, said: () => said, checks: () => checks };
}

async function led(seconds: number): Promise<string> {
  const namespace = await testCluster.namespace('taken-over');
  await testCluster.create({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace, name },
    spec: spec('original-0', seconds),
  } as never);
  return namespace;
}

describe('a namespace with an original operator [F51]', () => {
  it('lets this operator wait while the Lease is renewed, and begin when it has expired', async () => {
    const namespace = await led(10);
    const waiting = waitIn(namespace);
    for (let round = 0; round < 5; round += 1) {
      await renew(namespace);
      const before = waiting.checks();
      await eventually(() => expect(waiting.checks()).toBeGreaterThan(before));
      expect(waiting.isOver()).toBe(false);
    }
    await eventually(() => expect(waiting.isOver()).toBe(true));
  });

  it('lets this operator begin as soon as the Lease is released, which is then deleted', async () => {
    const namespace = await led(60);
    const waiting = waitIn(namespace);
    await eventually(() => expect(waiting.said()).toContain('the original operator is still the leader'));
    await renew(namespace, '');
    await eventually(() => expect(waiting.isOver()).toBe(true));
    await expect(cluster.client.get(lease(namespace))).rejects.toThrow('not found');
  });

  it('does not delay this operator if no original operator ever led', async () => {
    const waiting = waitIn(await testCluster.namespace('fresh'));
    await eventually(() => expect(waiting.isOver()).toBe(true), { timeoutMs: 5_000 });
  });
});
