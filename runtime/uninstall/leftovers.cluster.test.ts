import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureBundle } from '../../infra/release/bundle.ts';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { toRef } from '../../sandbox/manager/apply.ts';
import { runCommand } from '../../sandbox/manager/command.ts';
import { install, type Installation } from '../../sandbox/manager/install.ts';
import { waitForDeletion } from '../../sandbox/testing/destroy.ts';
import { installedAs } from '../../sandbox/testing/protection.ts';
import { cleanupFinalizer } from '../contract.ts';
import { undefinedIfNotFound } from '../kubernetes/http/errors.ts';
import { protectedObjects, type ProtectedObject } from './protected-objects.ts';

let cluster: ControlPlane;
beforeAll(async () => {
  await ensureBundle();
  cluster = await startControlPlane();
});
afterAll(() => cluster?.stop());

async function leaveOnly(
  kind: string,
  ...others: string[]
): Promise<{ installation: Installation; left: ProtectedObject }> {
  const { client } = cluster;
  const installation = await install(client, {});
  const [left] = protectedObjects(installedAs(installation)).filter((ref) => ref.kind === kind);
  if (left === undefined) throw new Error(`no ${kind} is held`);
  // OLM creates the account without labels.
  const labels = kind === 'ServiceAccount' ? { 'app.kubernetes.io/part-of': null } : {};
  await client.patch(left, {
    kind: 'merge',
    body: { metadata: { labels, finalizers: [...others, cleanupFinalizer] } },
  });
  for (const each of installation.manifests) await client.delete(toRef(each)).catch(undefinedIfNotFound);
  return { installation, left };
}

const uninstall = () => runCommand(['uninstall', '--deadline', '30', '--kubeconfig', cluster.kubeconfig], {});

describe('the remains of a removed operator', () => {
  it.each(['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding'])(
    '%s alone is found and released [F44]',
    async (kind) => {
      const { installation, left } = await leaveOnly(kind);
      const { code, stdout, stderr } = await uninstall();
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain(
        `Released ${kind} ${left.kind === 'ServiceAccount' ? 'lumigo-system/' : ''}${left.name}.`,
      );
      for (const each of installation.manifests) await waitForDeletion(cluster, each);
    },
  );

  it('an object is reported as a failure if it has another finalizer, too [F44]', async () => {
    const { installation, left } = await leaveOnly('ServiceAccount', 'example.com/theirs');
    const { code, stderr } = await uninstall();
    expect(code).toBe(1);
    expect(stderr).toContain(
      `ServiceAccount lumigo-system/${left.name}: finalizers of other controllers keep it: example.com/theirs`,
    );
    await cluster.client.patch(left, { kind: 'merge', body: { metadata: { finalizers: [] } } });
    for (const each of installation.manifests) await waitForDeletion(cluster, each);
  });
});
