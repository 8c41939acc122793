import { setTimeout as sleep } from 'node:timers/promises';
import { workloadKinds } from '../runtime/contract.ts';
import { uninstrument } from '../runtime/injection/remove.ts';
import type { Manifest } from '../runtime/kubernetes/resources/objects.ts';
import { apply, toRef } from '../sandbox/manager/apply.ts';
import { startGuarded, write, type GuardedCluster } from '../sandbox/testing/guard/guarded-cluster.ts';
import { changed, decided } from '../sandbox/testing/injection.ts';
import { makeFleet } from './fleet.ts';
import { latencies, timed, type Figure } from './table.ts';

const { deployment } = workloadKinds;
const ROUNDS = 6;
const WRITES = 250;
/** The API server reads policies about once a second. */
const SETTLE_MS = 4_000;

const writers = ['user', 'manager'] as const;
type Series = Readonly<Record<(typeof writers)[number], number[]>>;
const empty = (): Series => ({ user: [], manager: [] });

/** Measures updates of a 5.3 KB Deployment by a user and by the manager's account, without and with the guard, in turns. */
export async function measureGuard(say: (line: string) => void): Promise<Figure[]> {
  const guarded = await startGuarded();
  try {
    const namespace = await makeFleet(guarded.cluster.client, 1);
    const without = empty();
    const within = empty();
    for (let round = 0; round <= ROUNDS; round += 1) {
      say(`guard: round ${round} of ${ROUNDS}`);
      // The first round warms up.
      await turn(guarded, false, namespace, round === 0 ? empty() : without);
      await turn(guarded, true, namespace, round === 0 ? empty() : within);
    }
    return writers.flatMap((writer) => [
      ...latencies(`update by a ${writer}, without the guard`, without[writer]),
      ...latencies(`update by a ${writer}, with the guard`, within[writer]),
    ]);
  } finally {
    await guarded.stop();
  }
}

async function turn(
  { cluster, installation, ...guarded }: GuardedCluster,
  isOn: boolean,
  namespace: string,
  into: Series,
) {
  const policies = installation.manifests.filter(({ kind }) => kind.startsWith('ValidatingAdmission'));
  for (const policy of policies) await (isOn ? apply(cluster.client, policy) : removed(cluster, policy));
  await sleep(SETTLE_MS);
  const ref = { ...deployment, namespace, name: 'app-0' };
  for (let index = 0; index < WRITES; index += 1) {
    const body = { metadata: { annotations: { note: `${isOn}-${index}` } } };
    into.user.push(await timed(() => cluster.client.patch(ref, { kind: 'merge', body })));
    const before = await guarded.testCluster.get(deployment, namespace, ref.name);
    const injected = changed(decided(before, { injector: guarded.injector }));
    into.manager.push(await timed(() => write(guarded.manager, before, injected)));
    const stored = await guarded.testCluster.get(deployment, namespace, ref.name);
    into.manager.push(await timed(() => write(guarded.manager, stored, uninstrument(stored))));
  }
}

const removed = ({ client }: GuardedCluster['cluster'], policy: Manifest) =>
  client.delete(toRef(policy)).catch(() => undefined);
