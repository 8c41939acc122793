import { expect } from '@jest/globals';
import { cleanupFinalizer } from '../../runtime/contract.ts';
import type { Installed } from '../../runtime/installation/installation.ts';
import { protectedObjects } from '../../runtime/uninstall/protected-objects.ts';
import type { Installation } from '../manager/install.ts';
import { eventually } from './eventually.ts';
import type { OperatorBench } from './operator.ts';

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

export async function instrumentedAndProtected(operator: OperatorBench): Promise<string> {
  const namespace = await operator.testCluster.instrumented('shop');
  await waitForProtected(operator, true);
  return namespace;
}
