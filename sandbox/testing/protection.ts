import { expect } from '@jest/globals';
import { cleanupFinalizer } from '../../runtime/contract.ts';
import { protectedObjects } from '../../runtime/uninstall/protected-objects.ts';
import { eventually } from './eventually.ts';
import type { OperatorBench } from './operator.ts';

/** Returns true for each object that the operator protects while there is something to clean up. */
export const protection = ({ cluster, installation }: OperatorBench): Promise<boolean[]> =>
  Promise.all(
    protectedObjects(installation.config).map(async (ref) => {
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
