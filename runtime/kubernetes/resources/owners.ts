import type { Client } from '../http/client.ts';

/** What the operator makes for itself belongs to its Deployment, and goes with it. Beside a cluster there is none. */
export async function ownersOf(client: Client, namespace: string, deployment: string) {
  const ref = { group: 'apps', version: 'v1', plural: 'deployments', namespace, name: deployment };
  const found = await client.find(ref, { metadataOnly: true });
  if (found === undefined) return [];
  return [{ apiVersion: 'apps/v1', kind: 'Deployment', name: deployment, uid: found.metadata.uid }];
}
