import { undefinedIfNotFound } from '../../runtime/kubernetes/http/errors.ts';
import type { Manifest } from '../../runtime/kubernetes/resources/objects.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { toRef } from '../manager/apply.ts';
import { eventually } from './eventually.ts';

const WAIT = { timeoutMs: 100_000 };

export const waitForDeletion = ({ client }: Pick<ControlPlane, 'client'>, manifest: Manifest): Promise<void> =>
  eventually(async () => {
    const found = await client.find(toRef(manifest));
    if (found !== undefined)
      throw new Error(`${manifest.kind} ${manifest.metadata.name} is still there: ${JSON.stringify(found.metadata)}`);
  }, WAIT);

/** Deletes the objects of a step at once, and each step after the one before. Without a node, `onNoDeployment` removes the pods. */
export async function destroy(
  cluster: ControlPlane,
  steps: readonly (readonly Manifest[])[],
  onNoDeployment: () => Promise<void>,
): Promise<void> {
  for (const step of steps) {
    for (const manifest of step) await cluster.client.delete(toRef(manifest)).catch(undefinedIfNotFound);
    if (step.some(({ kind }) => kind === 'Deployment')) await onNoDeployment();
    for (const manifest of step) await waitForDeletion(cluster, manifest);
  }
}
