import { pods } from '../../contract.ts';
import type { Workload } from '../../api/objects.ts';
import type { Client } from '../http/client.ts';

export const NOT_ENDED = 'status.phase!=Succeeded,status.phase!=Failed';

/** Uses a list, so that the manager needs no right to get pods. */
export async function findPod(client: Client, namespace: string, name: string): Promise<Workload | undefined> {
  for await (const { items } of client.pages({ ...pods, namespace }, { fieldSelector: `metadata.name=${name}` }))
    for (const pod of items) return { ...pod, apiVersion: pods.version, kind: 'Pod' };
  return undefined;
}
