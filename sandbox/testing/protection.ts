import { expect } from '@jest/globals';
import { cleanupFinalizer, workloadKinds } from '../../runtime/contract.ts';
import type { Installed } from '../../runtime/installation/installation.ts';
import { protectedObjects } from '../../runtime/uninstall/protected-objects.ts';
import type { Installation } from '../manager/install.ts';
import { eventually } from './eventually.ts';
import type { OperatorBench } from './operator.ts';
import { createWorkload } from './workloads.ts';

const { deployment } = workloadKinds;

export const installedAs = ({ settings: { name, namespace } }: Installation): Installed => ({
  operatorName: name,
  operatorNamespace: namespace,
});

/** Returns true for each object that the operator protects while there is something to clean up. */
export const protection = ({ cluster, installation }: OperatorBench): Promise<boolean[]> =>
  Promise.all(
    protectedObjects(installedAs(installation)).map(async (ref) => {
      const { metadata } = await cluster.client.get(ref);
      return metadata.finalizers?.includes(cleanupFinalizer) === true;
    }),
  );

export const waitForProtected = (operator: OperatorBench, expected: boolean, timeoutMs = 20_000): Promise<void> =>
  eventually(async () => expect(await protection(operator)).toEqual([expected, expected, expected]), { timeoutMs });

export async function instrumented({ testCluster }: OperatorBench): Promise<string> {
  const namespace = await testCluster.namespace('shop');
  await testCluster.activate(namespace);
  await testCluster.create(createWorkload(deployment, namespace, 'app'));
  await testCluster.waitForInstrumented(deployment, namespace, 'app');
  return namespace;
}

export async function instrumentedAndProtected(operator: OperatorBench): Promise<string> {
  const namespace = await instrumented(operator);
  await waitForProtected(operator, true);
  return namespace;
}
