import { runtimeConfig } from '../../infra/constructs/runtime-environment.ts';
import { toInjector } from '../../runtime/config/config.ts';
import type { Manifest } from '../../runtime/kubernetes/resources/objects.ts';
import { startControlPlane } from '../control-plane/control-plane.ts';
import { applyDefinition } from '../manager/apply.ts';
import { install } from '../manager/install.ts';
import { stopOnError } from '../stop-on-error.ts';
import { TestCluster } from './test-cluster.ts';

/** Starts a control plane with an installation, but without controllers or an operator. Other definitions are applied before it. */
export async function startInstalled(settings: object, definitions: readonly Manifest[] = []) {
  const cluster = await startControlPlane({ controllerManager: false });
  const installation = await stopOnError(cluster, async () => {
    for (const definition of definitions) await applyDefinition(cluster.client, definition);
    return install(cluster.client, { settings });
  });
  const injector = toInjector(runtimeConfig(installation.settings, 'Manifests'));
  return { cluster, testCluster: new TestCluster(cluster.client), installation, injector, stop: () => cluster.stop() };
}
