import type { WorkloadKind } from '../contract.ts';
import type { Metadata, NamespacePolicy } from '../injection/types.ts';
import { needsInspection } from './plan.ts';
import type { Reporter } from './reporter.ts';
import { isInstrumented, type WorkloadRecord, type WorkloadStore } from './workload-store.ts';

export interface WorkloadObserverOptions {
  readonly store: WorkloadStore;
  readonly reporter: Reporter;
  readonly policy: (namespace: string) => NamespacePolicy;
  readonly request: (record: WorkloadRecord) => void;
  /** Told when what a Lumigo's status says of its namespace may have changed. */
  readonly onStatusChange: (namespace: string) => void;
}

const nothing = { record: undefined, changed: false, stampBefore: undefined };

/** Takes in what the watches show. Nothing follows from it before `begin`: a half-filled store would look like missing workloads. */
export class WorkloadObserver {
  readonly #options: WorkloadObserverOptions;
  #begun = false;

  constructor(options: WorkloadObserverOptions) {
    this.#options = options;
  }

  handler(kind: WorkloadKind) {
    const { store } = this.#options;
    return {
      upsert: ({ metadata }: { metadata: Metadata }) => this.#upsert(kind, metadata),
      delete: ({ namespace, name, uid }: { namespace: string; name: string; uid: string }) => {
        const record = store.delete(kind, namespace, name, uid);
        if (record !== undefined && isInstrumented(record)) this.#options.onStatusChange(namespace);
      },
      known: () => store.known(kind),
    };
  }

  /** Everything is known: from here on each change counts, and what was found is looked at once. */
  begin(): void {
    const { store } = this.#options;
    this.#begun = true;
    for (const namespace of store.namespaces())
      for (const record of store.in(namespace)) {
        void this.#options.reporter.stamped(record, this.#options.policy(namespace));
        this.reconsider(record);
      }
  }

  /** Hands a workload over if, as its record shows it, it may need a change. */
  reconsider(record: WorkloadRecord): void {
    if (needsInspection(record, this.#options.policy(record.namespace))) this.#options.request(record);
  }

  #upsert(kind: WorkloadKind, metadata: Metadata): void {
    const { record, changed, stampBefore } = this.#options.store.upsert(kind, metadata) ?? nothing;
    if (record === undefined || !changed || !this.#begun) return;
    const isEcho = record.writing !== undefined && record.writing.stamp === record.stamp;
    if (record.stamp !== stampBefore && !isEcho) this.#report(record);
    // While it is being changed there is nothing to ask for: converge compares once it has the answer.
    if (record.changing) return;
    record.settled = false;
    this.reconsider(record);
  }

  /** Somebody else, the webhook most likely, has changed what this operator notes on a workload. */
  #report(record: WorkloadRecord): void {
    const { reporter, policy, onStatusChange } = this.#options;
    const namespacePolicy = policy(record.namespace);
    if (record.stamp !== undefined) void reporter.stamped(record, namespacePolicy);
    else if (!isInstrumented(record)) void reporter.changed(record, namespacePolicy, 'removed');
    onStatusChange(record.namespace);
  }
}
