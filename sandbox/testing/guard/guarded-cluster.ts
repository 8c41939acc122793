import { operatorUser } from '../../../infra/constructs/access.ts';
import { guardAnswer, pods, workloadKinds, workloads, type WorkloadKind } from '../../../runtime/contract.ts';
import type { Workload } from '../../../runtime/api/objects.ts';
import { workloadPatch } from '../../../runtime/injection/patch.ts';
import { createClient, guarded, type Client } from '../../../runtime/kubernetes/http/client.ts';
import { connectTo } from '../../control-plane/connect.ts';
import { getDefinitions } from '../../programs/definitions.ts';
import { startInstalled } from '../installed-cluster.ts';
import { eventually } from '../eventually.ts';
import { createWorkload } from '../workloads.ts';
import { stopOnError } from '../../stop-on-error.ts';

/** An installation without a manager, and a client with the manager's account, as an attacker with its token has it. */
export type GuardedCluster = Awaited<ReturnType<typeof startGuarded>>;

/** Resolves when the API server enforces the guard, unless it is off. */
export async function startGuarded(settings: object = {}) {
  const installed = await startInstalled(settings, getDefinitions('argo', ['rollout-crd']));
  const { cluster, installation } = installed;
  const transport = connectTo(cluster, { as: operatorUser(installation.settings) });
  const stop = async () => {
    transport.close();
    await cluster.stop();
  };
  const guardedCluster = { ...installed, manager: createClient(transport), stop };
  if (installation.settings.guard === 'Deny') await stopOnError(guardedCluster, () => waitForEnforced(guardedCluster));
  return guardedCluster;
}

const { deployment } = workloadKinds;

async function waitForEnforced({ testCluster, manager }: GuardedCluster): Promise<void> {
  const namespace = await testCluster.namespace('guard');
  const ref = { ...deployment, namespace, name: 'probe' };
  await testCluster.create(createWorkload(deployment, namespace, ref.name));
  const eviction = { ...pods, namespace: 'kube-system', name: 'probe', subresource: 'eviction' };
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'probe', namespace: 'kube-system' } };
  await eventually(async () => {
    // These are for the first and the last policy. The API server takes new ones up once a second.
    const writes = [
      manager.patch(ref, { kind: 'merge', body: { spec: { paused: true } } }, { dryRun: true }),
      manager.create(eviction, body as never, { dryRun: true }),
    ];
    for (const answer of await Promise.all(writes.map(refusal)))
      if (answer?.includes(guardAnswer) !== true) throw new Error(`the guard is not enforced: ${answer}`);
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
