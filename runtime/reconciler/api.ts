import { fieldManager, lumigo as contract, type WorkloadKind } from '../contract.ts';
import type { LumigoResource, LumigoStatus, Metadata, PatchOperation, Workload } from '../injection/types.ts';
import { guarded, type Client, type KubernetesObject } from '../kubernetes/client.ts';
import { eventObject, postEvent } from '../kubernetes/events.ts';
import type { InstrumentationEvent } from './reporter.ts';
import type { WorkloadRecord } from './workload-store.ts';

export type ReconcilerApi = ReturnType<typeof createReconcilerApi>;

/** Some 150 KB of Deployments: large enough to save requests, small enough to be parsed between two admission reviews. */
const PAGE_SIZE = 25;

const lumigoRef = ({ metadata: { namespace, name } }: LumigoResource) => ({ ...contract, namespace, name });
const asLumigo = (object: KubernetesObject): LumigoResource => object as unknown as LumigoResource;
const workloadRef = ({ kind, namespace, name }: WorkloadRecord) => ({ ...kind, namespace, name });

/** Everything the reconciler asks of the API server, one function a question. */
export function createReconcilerApi(client: Client, component: { version: string; instance: string }) {
  return {
    /** All workloads of a kind in a namespace, page by page; each carries its type. */
    async *pages(kind: WorkloadKind, namespace: string): AsyncGenerator<readonly Workload[]> {
      const { apiVersion, kind: name } = kind;
      for await (const { items } of client.pages({ ...kind, namespace }, { limit: PAGE_SIZE }))
        yield items.map((item) => ({ ...item, apiVersion, kind: name }));
    },

    async readWorkload(record: WorkloadRecord): Promise<Workload> {
      const workload = await client.get(workloadRef(record));
      return { ...workload, apiVersion: record.kind.apiVersion, kind: record.kind.kind };
    },

    async writeWorkload(
      record: WorkloadRecord,
      resourceVersion: string,
      patch: readonly PatchOperation[],
    ): Promise<Metadata> {
      const options = { fieldManager, metadataOnly: true };
      const { object } = await client.patch(workloadRef(record), guarded(resourceVersion, patch), options);
      return object.metadata;
    },

    async readLumigo(lumigo: LumigoResource): Promise<LumigoResource> {
      return asLumigo(await client.get(lumigoRef(lumigo)));
    },

    async writeFinalizers(lumigo: LumigoResource, finalizers: readonly string[]): Promise<LumigoResource> {
      const patch = guarded(lumigo.metadata.resourceVersion ?? '', [
        { op: 'add', path: '/metadata/finalizers', value: finalizers },
      ]);
      return asLumigo((await client.patch(lumigoRef(lumigo), patch, { fieldManager })).object);
    },

    async mergeStatus(lumigo: LumigoResource, status: Partial<LumigoStatus>): Promise<LumigoResource> {
      // Guarded, because another Lumigo of the same name may have taken its place (the uid is not checked on a status).
      const { resourceVersion } = lumigo.metadata;
      const body = { metadata: { resourceVersion }, status };
      const ref = { ...lumigoRef(lumigo), subresource: 'status' };
      return asLumigo((await client.patch(ref, { kind: 'merge', body }, { fieldManager })).object);
    },

    /** Sends a label as a dry run, and gives back the warnings that the answer carries. */
    async dryRunLabel(lumigo: LumigoResource, label: string, value: string): Promise<readonly string[]> {
      const body = { metadata: { labels: { [label]: value } } };
      const options = { fieldManager, dryRun: true, metadataOnly: true };
      return (await client.patch(lumigoRef(lumigo), { kind: 'merge', body }, options)).warnings;
    },

    /** Tells of something that concerns a Lumigo as a whole. */
    async postLumigoEvent({ metadata }: LumigoResource, event: Omit<InstrumentationEvent, 'type'>): Promise<void> {
      const { apiVersion, kind } = contract;
      const { namespace, name, uid, resourceVersion = '' } = metadata;
      const regarding = { apiVersion, kind, namespace, name, uid, resourceVersion };
      await postEvent(client, eventObject({ regarding, ...event, type: 'Warning', ...component, now: new Date() }));
    },

    async postEvent(record: WorkloadRecord, event: InstrumentationEvent): Promise<void> {
      const { kind, namespace, name, uid, resourceVersion } = record;
      const regarding = { apiVersion: kind.apiVersion, kind: kind.kind, namespace, name, uid, resourceVersion };
      await postEvent(client, eventObject({ regarding, ...event, ...component, now: new Date() }));
    },
  };
}
