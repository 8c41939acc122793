import { fieldManager, lumigo as contract, pods, type WorkloadKind } from '../contract.ts';
import type { LumigoResource, Metadata, Workload } from '../injection/types.ts';
import { isOurs } from '../lumigo/lumigo-store.ts';
import { guarded, type Client, type KubernetesObject } from '../kubernetes/http/client.ts';
import { wantedBy } from '../rollout/shape.ts';
import type { ObservedWorkload } from './observed.ts';

export type ReconcilerApi = ReturnType<typeof createReconcilerApi>;
type Patch = Parameters<Client['patch']>[1];

/** Some 150 KB of Deployments: large enough to save requests, small enough to be parsed between two admission reviews. */
const PAGE_SIZE = 25;

export const lumigoRef = ({ metadata: { namespace, name } }: LumigoResource) => ({ ...contract, namespace, name });
const asLumigo = (object: KubernetesObject): LumigoResource => object as unknown as LumigoResource;
const workloadRef = ({ kind, namespace, name }: Identity) => ({ ...kind, namespace, name });

type Identity = Pick<ObservedWorkload, 'kind' | 'namespace' | 'name' | 'uid'>;

/** Everything the reconciler asks of the API server, one function a question. */
export function createReconcilerApi(client: Client) {
  const patchLumigo = async (lumigo: LumigoResource, patch: Patch, subresource?: 'status'): Promise<LumigoResource> =>
    asLumigo((await client.patch({ ...lumigoRef(lumigo), subresource }, patch, { fieldManager })).object);

  return {
    /** All workloads of a kind in a namespace, page by page; each carries its type. */
    async *pages(kind: WorkloadKind, namespace: string): AsyncGenerator<readonly Workload[]> {
      const { apiVersion, kind: name } = kind;
      for await (const { items } of client.pages({ ...kind, namespace }, { limit: PAGE_SIZE }))
        yield items.map((item) => ({ ...item, apiVersion, kind: name }));
    },

    async readWorkload(workload: ObservedWorkload): Promise<Workload> {
      const { apiVersion, kind } = workload.kind;
      return { ...(await client.get(workloadRef(workload))), apiVersion, kind };
    },

    /** How many pods a controller is to have: none where it is gone. */
    async wantedBy(controller: Identity): Promise<number> {
      const { apiVersion, kind } = controller.kind;
      const found = await client.find(workloadRef(controller));
      return found?.metadata.uid === controller.uid ? wantedBy({ ...found, apiVersion, kind }) : 0;
    },

    /** Answers with the metadata that results. */
    async patchWorkload(workload: ObservedWorkload, patch: Patch): Promise<Metadata> {
      return (await client.patch(workloadRef(workload), patch, { fieldManager, metadataOnly: true })).object.metadata;
    },

    /** Whether there is a Lumigo that counts in a namespace, as the API server itself knows. */
    async hasLumigo(namespace: string): Promise<boolean> {
      for await (const { items } of client.pages({ ...contract, namespace }))
        if (items.some((each) => isOurs(asLumigo(each)))) return true;
      return false;
    },

    /** Asks for a pod to be replaced: 429 where a disruption budget does not allow it now, 409 where it is another by now. */
    async evict({ namespace, name, uid }: { namespace: string; name: string; uid: string }): Promise<void> {
      const ref = { ...pods, namespace, name, subresource: 'eviction' };
      const deleteOptions = { preconditions: { uid } };
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name }, deleteOptions };
      await client.create(ref, eviction, { throttledIsFinal: true });
    },

    readLumigo: async (lumigo: LumigoResource): Promise<LumigoResource> =>
      asLumigo(await client.get(lumigoRef(lumigo))),

    writeFinalizers(lumigo: LumigoResource, value: readonly string[]): Promise<LumigoResource> {
      const { resourceVersion = '' } = lumigo.metadata;
      return patchLumigo(lumigo, guarded(resourceVersion, [{ op: 'add', path: '/metadata/finalizers', value }]));
    },

    mergeStatus(lumigo: LumigoResource, status: object): Promise<LumigoResource> {
      // Guarded, because another Lumigo of the same name may have taken its place (the uid is not checked on a status).
      const { resourceVersion } = lumigo.metadata;
      return patchLumigo(lumigo, { kind: 'merge', body: { metadata: { resourceVersion }, status } }, 'status');
    },
  };
}
