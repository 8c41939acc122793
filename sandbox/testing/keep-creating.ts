import { setTimeout as sleep } from 'node:timers/promises';
import { workloadKinds } from '../../runtime/contract.ts';
import type { Client } from '../../runtime/kubernetes/http/client.ts';
import { templateOf } from '../../runtime/injection/workload.ts';
import { isInstrumented } from '../lumigo.ts';
import { workloadOf } from './workloads.ts';

const PAUSE_MS = 50;
/** CronJobs: of the six kinds the one that is least work for others: Kubernetes' controllers would be busy with it for minutes otherwise. */
const { cronJob: kind } = workloadKinds;

/** Creates workloads, up to twenty a second, until told to end; says which of them the webhook missed. */
export function keepCreating(client: Client, namespace: string) {
  const missed: string[] = [];
  let [created, done] = [0, false];
  const create = async (): Promise<void> => {
    const name = `created-${(created += 1)}`;
    const { object } = await client.create({ ...kind, namespace }, workloadOf(kind, namespace, name));
    const template = templateOf({ ...object, apiVersion: kind.apiVersion, kind: kind.kind });
    if (!isInstrumented(template)) missed.push(name);
  };
  const creating = (async () => {
    while (!done) await Promise.all([create(), sleep(PAUSE_MS)]);
  })();
  return {
    /** Until so many more are begun than now, however long one takes. Fails as a create does. */
    async more(count: number): Promise<void> {
      for (const goal = created + count; created < goal;) await Promise.race([creating, sleep(PAUSE_MS)]);
    },
    async end(): Promise<{ readonly created: number; readonly missed: readonly string[] }> {
      done = true;
      await creating;
      return { created, missed };
    },
  };
}
