import { fieldManager, lumigo as contract, pods, type WorkloadKind } from '../contract.ts';
import type { Workload } from '../api/objects.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { guarded, listAll, type Client, type KubernetesObject } from '../kubernetes/http/client.ts';
import { AnswerTooLargeError, undefinedIfNotFound } from '../kubernetes/http/errors.ts';
import { readMetadata } from '../kubernetes/resources/finalizers.ts';
import { patchAndDisown } from '../kubernetes/resources/managed-fields.ts';
import { isOurs } from '../lumigo/essential-lumigo.ts';
import { lumigoRef } from '../lumigo/lumigo-store.ts';
import { brokenPods, lookAt } from './generation-pods.ts';
import type { ObservedWorkload } from './observed.ts';

export type ReconcilerApi = ReturnType<typeof createReconcilerApi>;
type Patch = Parameters<Client['patch']>[1];

/** Large enough to save requests, small enough to parse between two reviews: about 150 KB of Deployments. */
const PAGE_SIZE = 25;
const MAX_PAGE_BYTES = 512 * 1024;

const workloadRef = ({ kind, namespace, name }: ObservedWorkload) => ({ ...kind, namespace, name });
const asLumigo = (object: KubernetesObject): LumigoResource => object as unknown as LumigoResource;

/** Omits managed fields, because a tenant decides their size. */
const asWorkload = ({ metadata, ...object }: KubernetesObject, { apiVersion, kind }: WorkloadKind): Workload => {
  const { managedFields: _fields, ...kept } = metadata;
  return { ...object, metadata: kept, apiVersion, kind };
};

export function createReconcilerApi(client: Client) {
  const patchLumigo = async (lumigo: LumigoResource, patch: Patch, subresource?: 'status'): Promise<LumigoResource> =>
    asLumigo((await client.patch({ ...lumigoRef(lumigo), subresource }, patch, { fieldManager })).object);

  return {
    async *pages(kind: WorkloadKind, namespace: string) {
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

    lookAt: (workload: Workload) => lookAt(workload, client),
    brokenPods: (workload: Workload) => brokenPods(workload, client),

    patchWorkload: async (workload: ObservedWorkload, patch: Patch): Promise<Workload> =>
      asWorkload(await patchAndDisown(client, workloadRef(workload), patch), workload.kind),

    /** A dry run. Admission reviews an empty patch, as it does each write. */
    changeNothing: (workload: ObservedWorkload) =>
      client.patch(workloadRef(workload), { kind: 'merge', body: {} }, { dryRun: true, metadataOnly: true }),

    /** Asks the API server, because a watch may be late. Without its definition there is none. */
    async hasLumigo(namespace: string): Promise<boolean> {
      const listed = listAll(client, { ...contract, namespace }, { metadataOnly: true });
      return (await listed.catch(undefinedIfNotFound))?.some((each) => isOurs(asLumigo(each))) === true;
    },

    /** Evicts a pod. Errors: 429 if a disruption budget does not allow it now, 409 if another pod has the name. */
    async evict({ namespace, name, uid }: { namespace: string; name: string; uid: string }): Promise<void> {
      const deleteOptions = { preconditions: { uid } };
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name }, deleteOptions };
      await client.create({ ...pods, namespace, name, subresource: 'eviction' }, eviction, { maxWaitMs: 0 });
    },

    readLumigo: async (lumigo: LumigoResource) => asLumigo(await client.get(lumigoRef(lumigo))),

    /** Reads other finalizers first, because the store does not keep their names. */
    async writeFinalizer(lumigo: LumigoResource, isHeld: boolean): Promise<LumigoResource> {
      const { resourceVersion = '', finalizers: known = [] } = lumigo.metadata;
      const isOther = (finalizer: string): boolean => finalizer !== contract.finalizer;
      const all = known.some(isOther) ? (await readMetadata(client, lumigoRef(lumigo)))?.finalizers : known;
      const value = [...(all ?? []).filter(isOther), ...(isHeld ? [contract.finalizer] : [])];
      return patchLumigo(lumigo, guarded(resourceVersion, [{ op: 'add', path: '/metadata/finalizers', value }]));
    },

    /** Guarded by the version: a status has no check of the uid, and another resource may have the name by now. */
    mergeStatus(lumigo: LumigoResource, status: object): Promise<LumigoResource> {
      const { resourceVersion } = lumigo.metadata;
      return patchLumigo(lumigo, { kind: 'merge', body: { metadata: { resourceVersion }, status } }, 'status');
    },
  };
}
