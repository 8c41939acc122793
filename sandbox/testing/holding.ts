import { expect } from '@jest/globals';
import { holdFinalizer, workloads } from '../../runtime/contract.ts';
import type { Installed } from '../../runtime/installation/installation.ts';
import { heldObjects } from '../../runtime/uninstall/held-objects.ts';
import type { Installation } from '../manager/install.ts';
import { eventually } from './eventually.ts';
import type { OperatorBench } from './operator.ts';
import { workloadOf } from './workloads.ts';

const [deployment] = workloads;

export const installedAs = ({ settings: { name, namespace } }: Installation): Installed => ({
  operatorName: name,
  operatorNamespace: namespace,
});

/** Of each object that an operator holds while there is something to clean up: whether it does. */
export const holds = ({ cluster, installation }: OperatorBench): Promise<boolean[]> =>
  Promise.all(
    heldObjects(installedAs(installation)).map(async (ref) => {
      const { metadata } = await cluster.client.get(ref);
      return metadata.finalizers?.includes(holdFinalizer) === true;
    }),
  );

export const whenHeld = (operator: OperatorBench, expected: boolean, timeoutMs = 20_000): Promise<void> =>
  eventually(async () => expect(await holds(operator)).toEqual([expected, expected, expected]), { timeoutMs });

/** A new namespace with a Lumigo and the instrumented Deployment `app`. */
export async function instrumented({ bench }: OperatorBench): Promise<string> {
  const namespace = await bench.namespace('shop');
  await bench.activate(namespace);
  await bench.create(workloadOf(deployment, namespace, 'app'));
  await bench.whenInstrumented(deployment, namespace, 'app');
  return namespace;
}

export async function instrumentedAndHeld(operator: OperatorBench): Promise<string> {
  const namespace = await instrumented(operator);
  await whenHeld(operator, true);
  return namespace;
}
