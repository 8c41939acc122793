import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { toRef } from '../../sandbox/manager/apply.ts';
import { startApiProxy, type ApiProxy } from '../../sandbox/faults/api-proxy.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { installedAs, instrumentedAndProtected } from '../../sandbox/testing/protection.ts';
import { protectedObjects } from './protected-objects.ts';

/** A rollback gives the Deployment to another operator and deletes the objects that this does not use. */
let operator: OperatorBench;
let proxy: ApiProxy;
beforeEach(async () => {
  operator = await startOperator({
    through: async (cluster) => {
      proxy = await startApiProxy(cluster);
      return proxy.server;
    },
  });
});
afterEach(async () => {
  await operator?.stop();
  await proxy?.close();
});

const held = () => protectedObjects(installedAs(operator.installation));

async function handOver(): Promise<void> {
  const [deployed] = operator.installation.manifests.filter(({ kind }) => kind === 'Deployment');
  if (deployed === undefined) throw new Error('no Deployment');
  const body = { spec: { template: { spec: { serviceAccountName: 'another', serviceAccount: 'another' } } } };
  await operator.cluster.client.patch(toRef(deployed), { kind: 'merge', body });
}

async function deleteHeld(pauseMs = 0): Promise<void> {
  for (const ref of held().toReversed()) {
    await operator.cluster.client.delete(ref);
    await sleep(pauseMs);
  }
}

const waitForAllDeleted = (): Promise<void> =>
  eventually(
    async () => {
      const found = await Promise.all(held().map((ref) => operator.cluster.client.find(ref)));
      expect(found).toEqual([undefined, undefined, undefined]);
    },
    { timeoutMs: 60_000 },
  );

describe('an operator whose Deployment belongs to another one', () => {
  it('releases its account and rights, also if they are deleted meanwhile [F51]', async () => {
    await instrumentedAndProtected(operator);
    await handOver();
    let deleted: Promise<void> | undefined;
    // The operator reads its rights from before their deletion.
    proxy.interfere = ({ method, path }) =>
      method === 'GET' && path.includes('/clusterroles/')
        ? { holdAnswer: () => (deleted ??= deleteHeld()) }
        : undefined;
    await operator.stopManager();
    expect(deleted).toBeDefined();
    await waitForAllDeleted();
  });

  it('releases them if they are deleted one after the other while it runs [F51]', async () => {
    await instrumentedAndProtected(operator);
    await handOver();
    await deleteHeld(1_000);
    await waitForAllDeleted();
  });
});
