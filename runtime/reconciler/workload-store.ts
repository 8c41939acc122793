import { annotations, labels, type WorkloadKind } from '../contract.ts';
import { ownerOf } from '../injection/eligibility.ts';
import { stampText } from '../injection/stamp.ts';
import type { Metadata } from '../injection/types.ts';
import { isOlder } from '../kubernetes/resources/objects.ts';
import { digest } from '../wording/digest.ts';
import { isInstrumented, type ObservedWorkload } from './observed.ts';

/** What became of something seen: the workload as it is known now, as it was, and whether anything that matters differs. */
interface Seen {
  readonly workload: ObservedWorkload;
  readonly before: ObservedWorkload | undefined;
  readonly changed: boolean;
}

type Facts = Partial<
  Pick<
    ObservedWorkload,
    | 'settled'
    | 'attempt'
    | 'failure'
    | 'write'
    | 'elsewhere'
    | 'tooLarge'
    | 'instrumentedVersion'
    | 'state'
    | 'judged'
    | 'changedAt'
  >
>;
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
    const { namespace = '', name = '', uid = '' } = metadata;
    if (ownerOf(kind.kind, metadata) !== undefined) {
      this.delete(kind, namespace, name, uid);
      return undefined;
    }
    const known = this.get(kind, namespace, name);
    if (known !== undefined && !isListed && isOlder(metadata.resourceVersion, known.resourceVersion))
      return { workload: known, before: known, changed: false };
    return this.take(kind, metadata, known);
  }

  private take(kind: WorkloadKind, metadata: Metadata, known: ObservedWorkload | undefined): Seen {
    return known !== undefined && known.uid === metadata.uid
      ? this.replace(known, metadata)
      : { workload: this.put(observeWorkload(kind, metadata)), before: undefined, changed: true };
  }

  private replace(known: ObservedWorkload, metadata: Metadata): Seen {
    const facts = readMetadata(metadata);
    const changed = !sameFacts(known, facts);
    const workload = this.put(changed ? this.unsettled(known, facts) : { ...known, ...facts });
    return { workload, before: known, changed };
  }

  /** Whether a workload, as this metadata shows it, is what is known of it: then what was found out holds for it. */
  isCurrent(workload: ObservedWorkload, metadata: Metadata): boolean {
    return workload.uid === metadata.uid && sameFacts(workload, readMetadata(metadata));
  }

  /** Notes what was found out about a workload; undefined where it is gone, or another of its name is there. */
  note(workload: ObservedWorkload, facts: Facts): ObservedWorkload | undefined {
    const known = this.get(workload.kind, workload.namespace, workload.name);
    return known?.uid === workload.uid ? this.put({ ...known, ...facts }) : undefined;
  }

  /** Forgets a workload, unless another of the same name has taken its place; says whether it was known. */
  delete(kind: WorkloadKind, namespace: string, name: string, uid: string): boolean {
    const kinds = this.byNamespace.get(namespace);
    const there = kinds?.get(kind);
    const workload = there?.get(name);
    if (kinds === undefined || there === undefined || workload === undefined) return false;
    if (uid !== '' && workload.uid !== uid) return false;
    there.delete(name);
    if (there.size === 0) kinds.delete(kind);
    if (kinds.size === 0) this.byNamespace.delete(namespace);
    this.count(workload, -1);
    return true;
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
    if (before !== undefined) this.count(before, -1);
    this.count(workload, 1);
    return workload;
  }

  private count(workload: ObservedWorkload, by: 1 | -1): void {
    if (isInstrumented(workload)) this.instrumentedCount += by;
  }

  /** As it is seen now; what was found out about it before may not hold any more. */
  private unsettled(known: ObservedWorkload, facts: ReturnType<typeof readMetadata>): ObservedWorkload {
    const { write, attempt } = known;
    const touched = write === undefined || attempt !== undefined ? write : { ...write, touchedAt: this.now() };
    const instrumentedVersion = versionOf(facts, known);
    return { ...known, ...facts, settled: undefined, write: touched, instrumentedVersion };
  }
}

/** What of a workload can make a difference to what should be done. */
const relevant = ['generation', 'label', 'stamp', 'deleting', 'asked'] as const;

const sameFacts = (known: ObservedWorkload, facts: ReturnType<typeof readMetadata>): boolean =>
  relevant.every((field) => known[field] === facts[field]);

/** The version at which the instrumentation, as its stamp tells, was seen first. */
function versionOf(facts: ReturnType<typeof readMetadata>, known?: ObservedWorkload): string | undefined {
  if (!isInstrumented(facts)) return undefined;
  const isSame = known?.stamp === facts.stamp && known?.instrumentedVersion !== undefined;
  return isSame ? known.instrumentedVersion : facts.resourceVersion;
}

/** A workload as its metadata shows it, of which nothing else is known yet. */
export function observeWorkload(kind: WorkloadKind, metadata: Metadata): ObservedWorkload {
  const facts = readMetadata(metadata);
  const workload = {
    kind,
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    createdAt: metadata.creationTimestamp ?? '',
    ...facts,
  };
  const instrumentedVersion = versionOf(facts);
  return instrumentedVersion === undefined ? workload : { ...workload, instrumentedVersion };
}

function readMetadata(metadata: Metadata) {
  return {
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
