import { pods } from '../../contract.ts';
import type { Workload } from '../../api/objects.ts';
import { listAll, type Client } from '../http/client.ts';

export const NOT_ENDED = 'status.phase!=Succeeded,status.phase!=Failed';

/** Uses a list, so that the manager needs no right to get pods. */
export async function findPod(client: Client, namespace: string, name: string): Promise<Workload | undefined> {
  const [pod] = await listAll(client, { ...pods, namespace }, { fieldSelector: `metadata.name=${name}` });
  return pod as Workload | undefined;
}
