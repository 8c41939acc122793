import { expect } from '@jest/globals';
import { pods } from '../../runtime/contract.ts';
import { listAll } from '../../runtime/kubernetes/http/client.ts';
import { eventually } from './eventually.ts';
import type { OperatorBench } from './operator.ts';

/** Replaces a kubelet: the operator runs beside the cluster, and its pods have no node. */
export async function runOperatorPods({ cluster, testCluster, installation }: OperatorBench): Promise<void> {
  const { namespace } = installation.settings;
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: new Date().toISOString() }];
  await eventually(async () => {
    const found = await listAll(cluster.client, { ...pods, namespace });
    expect(found.length).toBeGreaterThan(1);
    for (const { metadata } of found)
      await testCluster.setStatus({ ...pods, namespace, name: metadata.name }, { phase: 'Running', conditions });
  });
}
