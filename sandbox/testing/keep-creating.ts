import { setTimeout as sleep } from 'node:timers/promises';
import { workloadKinds } from '../../runtime/contract.ts';
import type { Client } from '../../runtime/kubernetes/http/client.ts';
import { toTemplate } from '../../runtime/injection/workload.ts';
import { isInstrumented } from '../lumigo.ts';
import { createWorkload } from './workloads.ts';

const PAUSE_MS = 50;
/** CronJobs cause the least work of the six kinds: for others, Kubernetes' controllers would be busy for minutes. */
const { cronJob: kind } = workloadKinds;

/** Creates up to twenty workloads a second until it is stopped. Returns those that the webhook missed. */
export function keepCreating(client: Client, namespace: string) {
  const missed: string[] = [];
  let created = 0;
  let done = false;
  const create = async (): Promise<void> => {
    const name = `created-${(created += 1)}`;
    const { object } = await client.create({ ...kind, namespace }, createWorkload(kind, namespace, name));
    const template = toTemplate({ ...object, apiVersion: kind.apiVersion, kind: kind.kind });
    if (!isInstrumented(template)) missed.push(name);
  };
  const creating = (async () => {
    while (!done) await Promise.all([create(), sleep(PAUSE_MS)]);
  })();
  const atLeast = async (goal: number): Promise<void> => {
    while (created < goal) await Promise.race([creating, sleep(PAUSE_MS)]);
  };
  return {
    atLeast,
    more: (count: number): Promise<void> => atLeast(created + count),
    async end(): Promise<{ readonly created: number; readonly missed: readonly string[] }> {
      done = true;
      await creating;
      return { created, missed };
    },
  };
}
