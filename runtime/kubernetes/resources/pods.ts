import { pods } from '../../contract.ts';
import type { Workload } from '../../api/objects.ts';
import type { Client } from '../http/client.ts';

/** Reads a pod by a list, because the manager needs the right to get pods for nothing else; undefined if there is none. */
export async function findPod(client: Client, namespace: string, name: string): Promise<Workload | undefined> {
  for await (const { items } of client.pages({ ...pods, namespace }, { fieldSelector: `metadata.name=${name}` }))
    for (const pod of items) return { ...pod, apiVersion: pods.version, kind: 'Pod' };
  return undefined;
}
