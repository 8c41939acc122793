import type { Container, PatchOperation, Workload } from '../../runtime/injection/types.ts';
import { templateOf } from '../../runtime/injection/workload.ts';
import type { Client } from '../../runtime/kubernetes/http/client.ts';
import { startMutatingWebhook } from '../testing/mutating-webhook.ts';
import { workloadOf } from '../testing/workloads.ts';
import { workloads } from '../../runtime/contract.ts';

const [deployment] = workloads;
export const sidecar = 'sidecar';

/**
 * Another team's mutating webhook, in force for one namespace. It adds a container to every Deployment and sorts the containers.
 * Resolves, once the API server calls it, with the function that ends it.
 */
export const startOtherWebhook = (client: Client, namespace: string, name: string): Promise<() => Promise<void>> =>
  startMutatingWebhook({
    ...{ client, namespace, name, mutate },
    rule: { apiGroups: ['apps'], operations: ['CREATE', 'UPDATE'], resources: ['deployments'] },
    whenCalled: async () => {
      const probe = workloadOf(deployment, namespace, 'probe');
      const { object } = await client.create({ ...deployment, namespace }, probe, { dryRun: true });
      if (!JSON.stringify(object).includes(sidecar)) throw new Error('the other webhook is not called yet');
    },
  });

function mutate(object: Workload): readonly PatchOperation[] {
  const containers = templateOf(object)?.spec.containers ?? [];
  const wanted = arranged(containers);
  if (JSON.stringify(wanted) === JSON.stringify(containers)) return [];
  return [{ op: 'replace', path: '/spec/template/spec/containers', value: wanted }];
}

/** The sidecar is there, and the names are in descending order. */
function arranged(containers: readonly Container[]): readonly Container[] {
  const isThere = containers.some(({ name }) => name === sidecar);
  const all = isThere ? containers : [...containers, { name: sidecar, image: 'sidecar:1' }];
  return all.toSorted((a, b) => (a.name < b.name ? 1 : -1));
}
