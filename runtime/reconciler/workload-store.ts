import { annotations, labels, type WorkloadKind } from '../contract.ts';
import { ownerOf } from '../injection/eligibility.ts';
import { stampText } from '../injection/stamp.ts';
import type { Metadata } from '../api/objects.ts';
import { isOlder } from '../kubernetes/resources/objects.ts';
import { digest } from '../wording/digest.ts';
import { isInstrumented, type Facts, type ObservedWorkload } from './observed.ts';

/** The result of taking what was seen. */
interface Seen {
  /** The workload as it is known now. */
  readonly workload: ObservedWorkload;
  readonly before: ObservedWorkload | undefined;
  /** Anything that matters differs from what was known. */
  readonly changed: boolean;
  /** The workload that is known now is the one that was seen: then what was found out holds for it. */
  readonly isCurrent: boolean;
}

type ByName = Map<string, ObservedWorkload>;

/**
 * The workloads of the cluster, by namespace, kind and name. Those that a controller owns (a Deployment's ReplicaSets, a
 * CronJob's Jobs) are not kept: they follow their owner, and there are many.
 */
export class WorkloadStore {
  private readonly byNamespace = new Map<string, Map<WorkloadKind, ByName>>();
  private instrumentedCount = 0;

  constructor(private readonly now: () => number) {}

  /**
   * Takes what a watch or a write's answer says; undefined for what is left to its owner. What is older than what is known
   * is passed over, also of an object that another of its name has replaced, except in a list, which shows what there is: after a
   * restored backup its versions are lower.
   */
  upsert(kind: WorkloadKind, metadata: Metadata, isListed = false): Seen | undefined {
    const shown = readMetadata(metadata);
    const { namespace, name, uid, resourceVersion } = shown;
    if (ownerOf(kind.kind, metadata) !== undefined) {
      this.delete(kind, namespace, name, uid);
      return undefined;
    }
    const known = this.get(kind, namespace, name);
    const changed = !isAs(known, shown);
    if (known !== undefined && !isListed && isOlder(resourceVersion, known.resourceVersion))
      return { workload: known, before: known, changed: false, isCurrent: !changed };
    const before = known?.uid === uid ? known : undefined;
    const workload = before === undefined ? asNew(kind, shown) : this.seenAgain(before, shown, changed);
    return { workload: this.put(workload), before, changed, isCurrent: true };
  }

  /** Notes what was found out about a workload; undefined where it is gone, or another of its name is there. */
  note(workload: ObservedWorkload, facts: Facts): ObservedWorkload | undefined {
    const known = this.latest(workload);
    return known && this.put({ ...known, ...facts });
  }

  /** Forgets a workload, unless another of the same name has taken its place; says whether it was known. */
  delete(kind: WorkloadKind, namespace: string, name: string, uid: string): boolean {
    const workload = this.get(kind, namespace, name);
    if (workload === undefined || (uid !== '' && workload.uid !== uid)) return false;
    const kinds = this.byNamespace.get(namespace) ?? new Map<WorkloadKind, ByName>();
    const there = kinds.get(kind);
    there?.delete(name);
    if (there?.size === 0) kinds.delete(kind);
    if (kinds.size === 0) this.byNamespace.delete(namespace);
    this.instrumentedCount -= Number(isInstrumented(workload));
    return true;
  }

  /** Returns the workload as it is known now; undefined where it is gone, or another of its name is there. */
  latest({ kind, namespace, name, uid }: ObservedWorkload): ObservedWorkload | undefined {
    const known = this.get(kind, namespace, name);
    return known?.uid === uid ? known : undefined;
  }

  get(kind: WorkloadKind, namespace: string, name: string): ObservedWorkload | undefined {
    return this.byNamespace.get(namespace)?.get(kind)?.get(name);
  }

  in(namespace: string): ObservedWorkload[] {
    return [...(this.byNamespace.get(namespace)?.values() ?? [])].flatMap((there) => [...there.values()]);
  }

  get instrumented(): number {
    return this.instrumentedCount;
  }

  namespaces(): string[] {
    return [...this.byNamespace.keys()];
  }

  *known(kind: WorkloadKind): Iterable<ObservedWorkload> {
    for (const kinds of this.byNamespace.values()) yield* kinds.get(kind)?.values() ?? [];
  }

  private put(workload: ObservedWorkload): ObservedWorkload {
    const { kind, namespace, name } = workload;
    const kinds = this.byNamespace.get(namespace) ?? new Map<WorkloadKind, ByName>();
    const there = kinds.get(kind) ?? new Map<string, ObservedWorkload>();
    const before = there.get(name);
    this.byNamespace.set(namespace, kinds.set(kind, there.set(name, workload)));
    this.instrumentedCount += Number(isInstrumented(workload)) - Number(before !== undefined && isInstrumented(before));
    return workload;
  }

  /** Where anything that matters changed, what was found out about it before may not hold any more. */
  private seenAgain(known: ObservedWorkload, shown: Shown, changed: boolean): ObservedWorkload {
    if (!changed) return { ...known, ...shown };
    const { write, attempt } = known;
    const touched = write === undefined || attempt !== undefined ? write : { ...write, touchedAt: this.now() };
    return { ...known, ...shown, settled: undefined, write: touched, instrumentedVersion: versionOf(shown, known) };
  }
}

type Shown = ReturnType<typeof readMetadata>;

/** What of a workload can make a difference to what should be done. */
const relevant = ['uid', 'generation', 'label', 'stamp', 'deleting', 'asked'] as const;

const isAs = (known: ObservedWorkload | undefined, shown: Shown): boolean =>
  known !== undefined && relevant.every((field) => known[field] === shown[field]);

/** The version at which the instrumentation, as its stamp tells, was seen first. */
function versionOf(shown: Shown, known: ObservedWorkload): string | undefined {
  if (!isInstrumented(shown)) return undefined;
  return (known.stamp === shown.stamp ? known.instrumentedVersion : undefined) ?? shown.resourceVersion;
}

/** A workload as its metadata shows it, of which nothing else is known yet. */
export const observeWorkload = (kind: WorkloadKind, metadata: Metadata): ObservedWorkload =>
  asNew(kind, readMetadata(metadata));

const asNew = (kind: WorkloadKind, shown: Shown): ObservedWorkload =>
  isInstrumented(shown) ? { kind, ...shown, instrumentedVersion: shown.resourceVersion } : { kind, ...shown };

function readMetadata(metadata: Metadata) {
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    createdAt: metadata.creationTimestamp ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    generation: metadata.generation ?? 0,
    label: intern(metadata.labels?.[labels.autoTrace]),
    stamp: stampText(metadata),
    asked: askedIn(metadata),
    deleting: metadata.deletionTimestamp !== undefined,
  };
}

const asking = [annotations.retry, annotations.injectContainers, annotations.excludeContainers];

const askedIn = ({ annotations: found }: Metadata): string | undefined =>
  found !== undefined && asking.some((key) => found[key] !== undefined)
    ? digest(JSON.stringify(asking.map((key) => found[key])))
    : undefined;

/** Thousands of workloads have the same label: one copy of it is enough. */
const interned = new Map<string, string>();
const MOST_INTERNED = 100;
function intern(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const known = interned.get(text);
  if (known === undefined && interned.size < MOST_INTERNED) interned.set(text, text);
  return known ?? text;
}
