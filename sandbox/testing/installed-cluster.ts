import { runtimeConfig } from '../../infra/constructs/runtime-environment.ts';
import { toInjector } from '../../runtime/config/config.ts';
import type { InjectorSettings } from '../../runtime/injection/types.ts';
import type { Manifest } from '../../runtime/kubernetes/resources/objects.ts';
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts';
import { applyDefinition } from '../manager/apply.ts';
import { install, type Installation } from '../manager/install.ts';
import { stopOnError } from '../stop-on-error.ts';
import { TestCluster } from './test-cluster.ts';

/** An installation without an operator. */
export interface InstalledCluster {
  readonly cluster: ControlPlane;
  readonly testCluster: TestCluster;
  readonly installation: Installation;
  readonly injector: InjectorSettings;
  readonly stop: () => Promise<void>;
}

/** Starts a control plane without controllers, and applies the definitions of other kinds, then the manifests. */
export async function startInstalled(
  settings: object,
  definitions: readonly Manifest[] = [],
): Promise<InstalledCluster> {
  const cluster = await startControlPlane({ controllerManager: false });
  const stop = () => cluster.stop();
  const installation = await stopOnError(cluster, async () => {
    for (const definition of definitions) await applyDefinition(cluster.client, definition);
    return install(cluster.client, { settings });
  });
  const injector = toInjector(runtimeConfig(installation.settings, 'Manifests'));
  return { cluster, testCluster: new TestCluster(cluster.client), installation, injector, stop };
}
