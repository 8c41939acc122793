import { fieldManager, lumigo as contract, pods, type WorkloadKind } from '../contract.ts';
import type { LumigoResource, Metadata, Workload } from '../injection/types.ts';
import { isOurs, lumigoRef } from '../lumigo/lumigo-store.ts';
import { guarded, type Client, type KubernetesObject } from '../kubernetes/http/client.ts';
import { AnswerTooLargeError } from '../kubernetes/http/errors.ts';
import { readMetadata } from '../kubernetes/resources/finalizers.ts';
import { brokenPods, podsOfGeneration } from './generation-pods.ts';
import type { ObservedWorkload } from './observed.ts';

export type ReconcilerApi = ReturnType<typeof createReconcilerApi>;
type Patch = Parameters<Client['patch']>[1];

/** About 150 KB of Deployments: large enough to save requests, small enough to be parsed between two admission reviews. */
const PAGE_SIZE = 25;
/** A page that is larger is not read: its workloads are read one by one, each when it has its place. */
const MAX_PAGE_BYTES = 512 * 1024;

const asLumigo = (object: KubernetesObject): LumigoResource => object as unknown as LumigoResource;
const workloadRef = ({ kind, namespace, name }: Identity) => ({ ...kind, namespace, name });

/** Without its managed fields, which are as large as a tenant makes them. */
const asWorkload = ({ metadata, ...object }: KubernetesObject, { apiVersion, kind }: WorkloadKind): Workload => {
  const { managedFields: _fields, ...kept } = metadata;
  return { ...object, metadata: kept, apiVersion, kind };
};

type Identity = Pick<ObservedWorkload, 'kind' | 'namespace' | 'name' | 'uid'>;

export interface WorkloadPage {
  readonly workloads: readonly Workload[];
  /** The length of the answer. */
  readonly bytes: number;
}

/** Everything the reconciler asks of the API server, one function a question. */
export function createReconcilerApi(client: Client) {
  const patchLumigo = async (lumigo: LumigoResource, patch: Patch, subresource?: 'status'): Promise<LumigoResource> =>
    asLumigo((await client.patch({ ...lumigoRef(lumigo), subresource }, patch, { fieldManager })).object);

  return {
    /** The workloads of a kind in a namespace, page by page, until a page is too large; each carries its type. */
    async *pages(kind: WorkloadKind, namespace: string): AsyncGenerator<WorkloadPage> {
      const options = { limit: PAGE_SIZE, maxBytes: MAX_PAGE_BYTES };
      try {
        for await (const { items, bytes } of client.pages({ ...kind, namespace }, options))
          yield { workloads: items.map((item) => asWorkload(item, kind)), bytes };
      } catch (error) {
        if (!(error instanceof AnswerTooLargeError)) throw error;
      }
    },

    readWorkload: async (workload: ObservedWorkload): Promise<Workload> =>
      asWorkload(await client.get(workloadRef(workload)), workload.kind),

    podsOfGeneration: (workload: Workload) => podsOfGeneration(workload, client),

    brokenPods: (workload: Workload) => brokenPods(workload, client),

    /** Answers with the metadata that results. */
    async patchWorkload(workload: ObservedWorkload, patch: Patch): Promise<Metadata> {
      return (await client.patch(workloadRef(workload), patch, { fieldManager, metadataOnly: true })).object.metadata;
    },

    /** Whether there is a Lumigo that counts in a namespace, as the API server itself knows. */
    async hasLumigo(namespace: string): Promise<boolean> {
      for await (const { items } of client.pages({ ...contract, namespace }, { metadataOnly: true }))
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

    /** Adds or removes our finalizer. The others are read first, if there are any: the store does not keep their names. */
    async writeFinalizer(lumigo: LumigoResource, isHeld: boolean): Promise<LumigoResource> {
      const { resourceVersion = '', finalizers: known = [] } = lumigo.metadata;
      const isOther = (finalizer: string): boolean => finalizer !== contract.finalizer;
      const all = known.some(isOther) ? (await readMetadata(client, lumigoRef(lumigo)))?.finalizers : known;
      const value = [...(all ?? []).filter(isOther), ...(isHeld ? [contract.finalizer] : [])];
      return patchLumigo(lumigo, guarded(resourceVersion, [{ op: 'add', path: '/metadata/finalizers', value }]));
    },

    mergeStatus(lumigo: LumigoResource, status: object): Promise<LumigoResource> {
      // Guarded, because another Lumigo of the same name may have taken its place (the uid is not checked on a status).
      const { resourceVersion } = lumigo.metadata;
      return patchLumigo(lumigo, { kind: 'merge', body: { metadata: { resourceVersion }, status } }, 'status');
    },
  };
}
