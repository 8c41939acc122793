import { annotations, instrumentedPrefix, labels, type WorkloadKind } from '../contract.ts';
import type { Metadata } from '../injection/types.ts';

/**
 * What the leader remembers of one workload: some 500 bytes, whatever the size of the object. `settled` says that the
 * workload, as this record shows it, needs nothing; any change of the record or of its namespace's policy unsettles it.
 */
export interface WorkloadRecord {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
  uid: string;
  resourceVersion: string;
  generation: number;
  createdAt: string;
  /** The value of `lumigo.auto-trace`. */
  label: string | undefined;
  /** The operator's annotation, as text (injection/stamp.ts reads it). */
  stamp: string | undefined;
  deleting: boolean;
  settled: boolean;
  /** Whether it is being changed right now; what the watch says meanwhile may be the echo of that change. */
  changing: boolean;
  /** While a change is being written: the stamp that it leaves, by which its echo is known. */
  writing: { readonly stamp: string | undefined } | undefined;
  /** The stamp whose event is posted, so that each change is told once. */
  reported: string | undefined;
  /** The resourceVersion at which the instrumentation was last seen to change; stands in the Lumigo's status. */
  instrumentedVersion: string | undefined;
  /** Failed attempts in a row, for the backoff; and what was said of the last. */
  failures: number;
  problem: string | undefined;
}

/** What became of a record: whether anything that matters differs from before, and the stamp it had. */
export interface Upserted {
  readonly record: WorkloadRecord;
  readonly changed: boolean;
  readonly stampBefore: string | undefined;
}

export type ByKindAndName = Map<string, WorkloadRecord>;

/** Whether a record's label says that this operator instrumented it. */
export const isInstrumented = (record: WorkloadRecord): boolean =>
  record.label?.startsWith(instrumentedPrefix) === true;

/**
 * The workloads of the cluster, by namespace. Those that a controller owns (a Deployment's ReplicaSets, a CronJob's
 * Jobs) are not kept: they follow their owner, and there are many.
 */
export class WorkloadStore {
  readonly #namespaces = new Map<string, ByKindAndName>();

  /** Takes what the watch or a write's answer says. Returns the record, and whether anything that matters differs from before. */
  upsert(kind: WorkloadKind, metadata: Metadata): Upserted | undefined {
    const { namespace = '', name = '', uid = '' } = metadata;
    if (isLeftToOwner(kind, metadata)) {
      this.delete(kind, namespace, name, uid);
      return undefined;
    }
    const known = this.get(kind, namespace, name);
    if (known === undefined || known.uid !== uid)
      return { record: this.#add(kind, metadata), changed: true, stampBefore: undefined };
    if (isOlder(metadata.resourceVersion, known.resourceVersion))
      return { record: known, changed: false, stampBefore: known.stamp };
    const seen = readMetadata(metadata);
    const changed = telling.some((field) => known[field] !== seen[field]);
    const stampBefore = known.stamp;
    Object.assign(known, seen);
    return { record: known, changed, stampBefore };
  }

  /** Forgets a workload, unless another of the same name has taken its place. */
  delete(kind: WorkloadKind, namespace: string, name: string, uid: string): WorkloadRecord | undefined {
    const there = this.#namespaces.get(namespace);
    const record = there?.get(keyOf(kind, name));
    if (there === undefined || record === undefined || (uid !== '' && record.uid !== uid)) return undefined;
    there.delete(keyOf(kind, name));
    if (there.size === 0) this.#namespaces.delete(namespace);
    return record;
  }

  get(kind: WorkloadKind, namespace: string, name: string): WorkloadRecord | undefined {
    return this.#namespaces.get(namespace)?.get(keyOf(kind, name));
  }

  in(namespace: string): Iterable<WorkloadRecord> {
    return this.#namespaces.get(namespace)?.values() ?? [];
  }

  get size(): number {
    let size = 0;
    for (const there of this.#namespaces.values()) size += there.size;
    return size;
  }

  isAnyInstrumented(): boolean {
    for (const there of this.#namespaces.values())
      for (const record of there.values()) if (isInstrumented(record)) return true;
    return false;
  }

  namespaces(): string[] {
    return [...this.#namespaces.keys()];
  }

  *known(kind: WorkloadKind): Iterable<WorkloadRecord> {
    for (const there of this.#namespaces.values())
      for (const record of there.values()) if (record.kind === kind) yield record;
  }

  #add(kind: WorkloadKind, metadata: Metadata): WorkloadRecord {
    const { namespace = '', name = '' } = metadata;
    const record: WorkloadRecord = {
      kind,
      namespace,
      name,
      createdAt: metadata.creationTimestamp ?? '',
      ...readMetadata(metadata),
      settled: false,
      changing: false,
      writing: undefined,
      reported: undefined,
      instrumentedVersion: undefined,
      failures: 0,
      problem: undefined,
    };
    const there = this.#namespaces.get(namespace) ?? new Map<string, WorkloadRecord>();
    this.#namespaces.set(namespace, there.set(keyOf(kind, name), record));
    return record;
  }
}

const keyOf = (kind: WorkloadKind, name: string): string => `${kind.kind}/${name}`;

/** A ReplicaSet with any controller, and a Job of a CronJob, get their template from it. */
function isLeftToOwner(kind: WorkloadKind, metadata: Metadata): boolean {
  const controller = metadata.ownerReferences?.find((owner) => owner.controller === true);
  if (controller === undefined) return false;
  return kind.kind === 'ReplicaSet' || (kind.kind === 'Job' && controller.kind === 'CronJob');
}

/** Resource versions are numbers on every API server (and since Kubernetes 1.35 comparable by contract); others count as newer. */
function isOlder(seen: string | undefined, known: string): boolean {
  const [a, b] = [Number(seen), Number(known)];
  return Number.isFinite(a) && Number.isFinite(b) && a < b;
}

/** What of a record can make a difference to what should be done. */
const telling = ['generation', 'label', 'stamp', 'deleting'] as const;

function readMetadata(metadata: Metadata) {
  return {
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    generation: metadata.generation ?? 0,
    label: metadata.labels?.[labels.autoTrace],
    stamp: metadata.annotations?.[annotations.instrumentation],
    deleting: metadata.deletionTimestamp !== undefined,
  };
}
