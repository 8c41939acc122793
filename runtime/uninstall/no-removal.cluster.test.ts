import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { refOf } from '../../sandbox/manager/apply.ts';
import { install } from '../../sandbox/manager/install.ts';
import { whenGone } from '../../sandbox/testing/destroy.ts';
import { instrumentedAndHeld } from '../../sandbox/testing/holding.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { workloads } from '../contract.ts';

/** What looks like the removal of the operator and is none takes nothing from anybody. */
let operator: OperatorBench;
beforeEach(async () => {
  operator = await startOperator();
});
afterEach(() => operator?.stop());

const [deployment] = workloads;

describe('no removal', () => {
  it('F43: is a rename, which removes the objects of the old name while those of the new one are there', async () => {
    const { bench, cluster, installation } = operator;
    const namespace = await instrumentedAndHeld(operator);
    const successor = await install(cluster.client, { settings: { name: 'successor' } });
    const isKept = new Set(successor.manifests.map((each) => JSON.stringify(refOf(each))));
    const old = installation.manifests.filter((each) => !isKept.has(JSON.stringify(refOf(each))));
    expect(old.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['ServiceAccount', 'ClusterRole', 'Deployment']),
    );
    for (const each of old) await cluster.client.delete(refOf(each));
    await operator.stopManager();
    for (const each of old) await whenGone(cluster, each);
    expect((await bench.readLumigo(namespace)).metadata.deletionTimestamp).toBeUndefined();
    expect(await bench.isInstrumented(deployment, namespace, 'app')).toBe(true);
  });
});
