import { fieldManager, lumigo as contract, type WorkloadKind } from '../contract.ts';
import type { LumigoResource, LumigoStatus, Metadata, PatchOperation, Workload } from '../injection/types.ts';
import { guarded, type Client } from '../kubernetes/client.ts';
import { eventObject, postEvent } from '../kubernetes/events.ts';
import type { InstrumentationEvent } from './reporter.ts';
import type { WorkloadRecord } from './workload-store.ts';

export type ReconcilerApi = ReturnType<typeof createReconcilerApi>;

/** Some 300 KB of Deployments: large enough to save requests, small enough to be parsed between two admission reviews. */
const PAGE_SIZE = 50;

const lumigoRef = ({ metadata: { namespace, name } }: LumigoResource) => ({ ...contract, namespace, name });
const workloadRef = ({ kind, namespace, name }: WorkloadRecord) => ({ ...kind, namespace, name });

/** Everything the reconciler asks of the API server, one function a question. */
export function createReconcilerApi(client: Client, component: { version: string; instance: string }) {
  return {
    pages: (kind: WorkloadKind, namespace: string): AsyncIterable<readonly Workload[]> =>
      client.pages<Workload>({ ...kind, namespace }, { limit: PAGE_SIZE }),

    async readWorkload(record: WorkloadRecord): Promise<Workload> {
      const workload = await client.get<Workload>(workloadRef(record));
      return { ...workload, apiVersion: record.kind.apiVersion, kind: record.kind.kind };
    },

    async writeWorkload(
      record: WorkloadRecord,
      resourceVersion: string,
      patch: readonly PatchOperation[],
    ): Promise<Metadata> {
      const answer = await client.patch<{ metadata: Metadata }>(workloadRef(record), {
        kind: 'json',
        body: guarded(resourceVersion, patch),
        fieldManager,
        metadataOnly: true,
      });
      return answer.metadata;
    },

    async readSecret(namespace: string, name: string): Promise<Readonly<Record<string, string>>> {
      const secret = await client.get<{ data?: Record<string, string> }>({
        group: '',
        version: 'v1',
        plural: 'secrets',
        namespace,
        name,
      });
      return secret.data ?? {};
    },

    readLumigo: (lumigo: LumigoResource): Promise<LumigoResource> => client.get<LumigoResource>(lumigoRef(lumigo)),

    writeFinalizers(lumigo: LumigoResource, finalizers: readonly string[]): Promise<LumigoResource> {
      const body = guarded(lumigo.metadata.resourceVersion ?? '', [
        { op: 'add', path: '/metadata/finalizers', value: finalizers },
      ]);
      return client.patch<LumigoResource>(lumigoRef(lumigo), { kind: 'json', body, fieldManager });
    },

    mergeStatus(lumigo: LumigoResource, status: Partial<LumigoStatus>): Promise<LumigoResource> {
      const body = { metadata: { uid: lumigo.metadata.uid }, status };
      return client.patch<LumigoResource>(
        { ...lumigoRef(lumigo), subresource: 'status' },
        { kind: 'merge', body, fieldManager },
      );
    },

    async dryRunLabel(lumigo: LumigoResource, label: string, value: string): Promise<readonly string[]> {
      const warnings: string[] = [];
      await client.patch(lumigoRef(lumigo), {
        kind: 'merge',
        body: { metadata: { labels: { [label]: value } } },
        fieldManager,
        dryRun: true,
        metadataOnly: true,
        onWarnings: (texts) => warnings.push(...texts),
      });
      return warnings;
    },

    async postEvent(record: WorkloadRecord, event: InstrumentationEvent): Promise<void> {
      const { kind, namespace, name, uid, resourceVersion } = record;
      const regarding = { apiVersion: kind.apiVersion, kind: kind.kind, namespace, name, uid, resourceVersion };
      await postEvent(client, eventObject({ regarding, ...event, ...component, now: new Date() }));
    },
  };
}
