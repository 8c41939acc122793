import { expect } from '@jest/globals';
import { cleanupFinalizer, workloadKinds } from '../../runtime/contract.ts';
import type { Installed } from '../../runtime/installation/installation.ts';
import { protectedObjects } from '../../runtime/uninstall/protected-objects.ts';
import type { Installation } from '../manager/install.ts';
import { eventually } from './eventually.ts';
import type { OperatorBench } from './operator.ts';
import { workloadOf } from './workloads.ts';

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

export const whenProtected = (operator: OperatorBench, expected: boolean, timeoutMs = 20_000): Promise<void> =>
  eventually(async () => expect(await protection(operator)).toEqual([expected, expected, expected]), { timeoutMs });

export async function instrumented({ bench }: OperatorBench): Promise<string> {
  const namespace = await bench.namespace('shop');
  await bench.activate(namespace);
  await bench.create(workloadOf(deployment, namespace, 'app'));
  await bench.whenInstrumented(deployment, namespace, 'app');
  return namespace;
}

export async function instrumentedAndProtected(operator: OperatorBench): Promise<string> {
  const namespace = await instrumented(operator);
  await whenProtected(operator, true);
  return namespace;
}
