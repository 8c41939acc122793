import { fieldManager, lumigo as contract, probeLabel, type WorkloadKind } from '../contract.ts';
import type { LumigoResource, LumigoStatus, Metadata, PatchOperation, Workload } from '../injection/types.ts';
import { isOurs } from '../lumigo-store.ts';
import { guarded, type Client, type KubernetesObject } from '../kubernetes/client.ts';
import { eventObject, postEvent } from '../kubernetes/events.ts';
import type { InstrumentationEvent } from './describe-events.ts';
import type { ObservedWorkload } from './observed.ts';

export type ReconcilerApi = ReturnType<typeof createReconcilerApi>;

/** Some 150 KB of Deployments: large enough to save requests, small enough to be parsed between two admission reviews. */
const PAGE_SIZE = 25;

const lumigoRef = ({ metadata: { namespace, name } }: LumigoResource) => ({ ...contract, namespace, name });
const asLumigo = (object: KubernetesObject): LumigoResource => object as unknown as LumigoResource;
const workloadRef = ({ kind, namespace, name }: ObservedWorkload) => ({ ...kind, namespace, name });

/** Everything the reconciler asks of the API server, one function a question. */
export function createReconcilerApi(client: Client) {
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

    async writeWorkload(
      workload: ObservedWorkload,
      resourceVersion: string,
      patch: readonly PatchOperation[],
    ): Promise<Metadata> {
      const options = { fieldManager, metadataOnly: true };
      const { object } = await client.patch(workloadRef(workload), guarded(resourceVersion, patch), options);
      return object.metadata;
    },

    /** Whether there is a Lumigo that counts in a namespace, as the API server itself knows. */
    async hasLumigo(namespace: string): Promise<boolean> {
      for await (const { items } of client.pages({ ...contract, namespace }))
        if (items.some((each) => isOurs(asLumigo(each)))) return true;
      return false;
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
  };
}

/** Sends a label as a dry run on a Lumigo, and gives back the warnings that the answer carries. */
export const probeApi =
  (client: Client) =>
  async (lumigo: LumigoResource, probe: string): Promise<readonly string[]> => {
    const body = { metadata: { labels: { [probeLabel]: probe } } };
    const options = { fieldManager, dryRun: true, metadataOnly: true };
    return (await client.patch(lumigoRef(lumigo), { kind: 'merge', body }, options)).warnings;
  };

export type EventApi = ReturnType<typeof createEventApi>;

/** Posts events in this replica's name; `kubernetes/events.ts` says what makes two of them one. */
export function createEventApi(client: Client, component: { version: string; instance: string }) {
  return {
    /** Tells of something that concerns a Lumigo as a whole. */
    async postLumigoEvent({ metadata }: LumigoResource, event: Omit<InstrumentationEvent, 'type'>): Promise<void> {
      const { apiVersion, kind } = contract;
      const { namespace, name, uid, resourceVersion = '' } = metadata;
      const regarding = { apiVersion, kind, namespace, name, uid, resourceVersion };
      await postEvent(client, eventObject({ regarding, ...event, type: 'Warning', ...component, now: new Date() }));
    },

    async postEvent(workload: ObservedWorkload, event: InstrumentationEvent): Promise<void> {
      const { kind, namespace, name, uid, resourceVersion } = workload;
      const regarding = { apiVersion: kind.apiVersion, kind: kind.kind, namespace, name, uid, resourceVersion };
      await postEvent(client, eventObject({ regarding, ...event, ...component, now: new Date() }));
    },
  };
}
