import { operatorUser } from '../../../infra/constructs/access.ts';
import { runtimeConfig } from '../../../infra/constructs/runtime-environment.ts';
import { workloadKinds, workloads, type WorkloadKind } from '../../../runtime/contract.ts';
import { toInjector } from '../../../runtime/config/config.ts';
import type { Workload } from '../../../runtime/api/objects.ts';
import type { InjectorSettings } from '../../../runtime/injection/types.ts';
import { workloadPatch } from '../../../runtime/injection/patch.ts';
import { createClient, guarded, type Client } from '../../../runtime/kubernetes/http/client.ts';
import { connectTo } from '../../control-plane/connect.ts';
import { startControlPlane, type ControlPlane } from '../../control-plane/control-plane.ts';
import { apply } from '../../manager/apply.ts';
import { install, type Installation } from '../../manager/install.ts';
import { getDefinitions } from '../../programs/definitions.ts';
import { TestCluster } from '../test-cluster.ts';
import { eventually } from '../eventually.ts';
import { createWorkload } from '../workloads.ts';

export const DENIED = 'The guard lets the Lumigo operator';

/** An installation without a manager, and a client with the manager's account, as an attacker with its token has it. */
export interface GuardedCluster {
  readonly cluster: ControlPlane;
  readonly testCluster: TestCluster;
  readonly installation: Installation;
  readonly manager: Client;
  readonly injector: InjectorSettings;
  readonly stop: () => Promise<void>;
}

/** Resolves when the API server enforces the guard, unless it is off. */
export async function startGuarded(settings: object = {}): Promise<GuardedCluster> {
  const cluster = await startControlPlane({ controllerManager: false });
  try {
    for (const definition of getDefinitions('argo', ['rollout-crd'])) await apply(cluster.client, definition);
    const installation = await install(cluster.client, { settings });
    const transport = connectTo(cluster, { as: operatorUser(installation.settings) });
    const guardedCluster = {
      ...{ cluster, installation, testCluster: new TestCluster(cluster.client), manager: createClient(transport) },
      injector: toInjector(runtimeConfig(installation.settings, 'Manifests')),
      async stop() {
        transport.close();
        await cluster.stop();
      },
    };
    if (installation.settings.guard === 'Deny') await waitForEnforced(guardedCluster);
    return guardedCluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

const { deployment } = workloadKinds;

async function waitForEnforced({ testCluster, manager }: GuardedCluster): Promise<void> {
  const namespace = await testCluster.namespace('guard');
  const ref = { ...deployment, namespace, name: 'probe' };
  await testCluster.create(createWorkload(deployment, namespace, ref.name));
  await eventually(async () => {
    const answer = await refusal(
      manager.patch(ref, { kind: 'merge', body: { spec: { paused: true } } }, { dryRun: true }),
    );
    if (answer?.includes(DENIED) !== true) throw new Error(`the guard is not enforced: ${answer}`);
  });
}

export const refusal = (write: Promise<unknown>): Promise<string | undefined> =>
  write.then(
    () => undefined,
    (error: unknown) => (error as Error).message,
  );

export async function write(client: Client, before: Workload, after: Workload): Promise<Workload> {
  const kind = getKind(before);
  const { namespace, name = '', resourceVersion = '' } = before.metadata;
  const patch = workloadPatch(before, after);
  if (patch.length === 0) return before;
  const { object } = await client.patch({ ...kind, namespace, name }, guarded(resourceVersion, patch));
  return { ...object, apiVersion: kind.apiVersion, kind: kind.kind };
}

export function getKind({ kind }: Workload): WorkloadKind {
  const found = workloads.find((each) => each.kind === kind);
  if (found === undefined) throw new Error(`${kind} is no kind of workload`);
  return found;
}
