import { annotations, labels, type WorkloadKind } from '../contract.ts';
import { findOwner } from '../injection/eligibility.ts';
import * as status from '../injection/injection-status.ts';
import { annotationBytes } from '../injection/validity.ts';
import type { Metadata } from '../api/objects.ts';
import { isOlder } from '../kubernetes/resources/objects.ts';
import { digest } from '../wording/digest.ts';
import { isInstrumented, type Facts, type ObservedWorkload } from './observed.ts';

type Identity = Pick<ObservedWorkload, 'kind' | 'namespace' | 'name' | 'uid'>;
type ByKindAndName = Map<string, ObservedWorkload>;
const toKey = ({ kind }: WorkloadKind, name: string): string => `${kind}/${name}`;

/** The workloads of the cluster, without those that a controller owns, such as a Deployment's ReplicaSets. */
export class WorkloadStore {
  private readonly byNamespace = new Map<string, ByKindAndName>();
  removable = 0;

  /** Ignores older versions except in a list, because a restored backup has lower ones. `isCurrent`: none is known that differs. */
  upsert(kind: WorkloadKind, metadata: Metadata, isListed = false) {
    const shown = readMetadata(metadata);
    const { namespace, name, uid, resourceVersion } = shown;
    if (findOwner(kind.kind, metadata) !== undefined) {
      this.delete({ kind, namespace, name, uid });
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

  update(workload: ObservedWorkload, facts: Facts): ObservedWorkload | undefined {
    const known = this.latest(workload);
    return known && this.put({ ...known, ...facts });
  }

  delete(identity: Identity): boolean {
    const workload = this.latest(identity);
    if (workload === undefined) return false;
    const { kind, namespace, name } = identity;
    const there = this.byNamespace.get(namespace);
    there?.delete(toKey(kind, name));
    if (there?.size === 0) this.byNamespace.delete(namespace);
    this.removable -= countRemovable(workload);
    return true;
  }

  latest({ kind, namespace, name, uid }: Identity): ObservedWorkload | undefined {
    const known = this.get(kind, namespace, name);
    return known?.uid === uid ? known : undefined;
  }

  get(kind: WorkloadKind, namespace: string, name: string): ObservedWorkload | undefined {
    return this.byNamespace.get(namespace)?.get(toKey(kind, name));
  }

  in(namespace: string): ObservedWorkload[] {
    return [...(this.byNamespace.get(namespace)?.values() ?? [])];
  }

  namespaces(): string[] {
    return [...this.byNamespace.keys()];
  }

  *known(kind: WorkloadKind): Iterable<ObservedWorkload> {
    for (const there of this.byNamespace.values())
      for (const workload of there.values()) if (workload.kind === kind) yield workload;
  }

  private put(workload: ObservedWorkload): ObservedWorkload {
    const { kind, namespace, name } = workload;
    const before = this.get(kind, namespace, name);
    const there: ByKindAndName = this.byNamespace.get(namespace) ?? new Map();
    this.byNamespace.set(namespace, there.set(toKey(kind, name), workload));
    this.removable += countRemovable(workload) - countRemovable(before);
    return workload;
  }

  private seenAgain(known: ObservedWorkload, shown: Shown, changed: boolean): ObservedWorkload {
    if (!changed) return { ...known, ...shown };
    const { write, inFlight } = known;
    // A user's labels and annotations undo no change of the operator.
    const mayUndo = inFlight === undefined && !isAs(known, shown, known.asked === shown.asked ? written : own);
    const touched = write !== undefined && mayUndo ? { ...write, touchedAt: performance.now() } : write;
    return {
      ...known,
      ...shown,
      checkedUnder: undefined,
      checkedBefore: known.checkedUnder ?? known.checkedBefore,
      lastDecision: known.lastDecision?.code === undefined ? undefined : known.lastDecision,
      write: touched,
      instrumentedVersion: findVersion(shown, known),
    };
  }
}

/** Counts what the operator can remove. A Job cannot change, and a deleted Lumigo can have kept its injections. */
const countRemovable = ({ kind, label, injectionStatus }: Partial<ObservedWorkload> = {}): number =>
  Number(kind?.mutable === true && isInstrumented({ label }) && !status.parseInjectionStatus(injectionStatus)?.keep);

type Shown = ReturnType<typeof readMetadata>;

const own = ['uid', 'label', 'injectionStatus', 'deleting'] as const;
/** The operator writes to these. The generation of a Deployment counts its user's annotations, too. */
const written = [...own, 'generation'] as const;
const relevant = [...written, 'asked'] as const;

const isAs = (
  known: ObservedWorkload | undefined,
  shown: Shown,
  fields: readonly (typeof relevant)[number][] = relevant,
): boolean => known !== undefined && fields.every((field) => known[field] === shown[field]);

function findVersion(shown: Shown, known: ObservedWorkload): string | undefined {
  if (!isInstrumented(shown)) return undefined;
  const isSame = status.isSameChange(known.injectionStatus, shown.injectionStatus);
  return (isSame ? known.instrumentedVersion : undefined) ?? shown.resourceVersion;
}

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
    label: metadata.labels?.[labels.autoTrace],
    injectionStatus: status.injectionStatusText(metadata),
    asked: askedIn(metadata),
    deleting: metadata.deletionTimestamp !== undefined,
  };
}

/** Bytes of annotations that can alone decide about an injection (injection/size.ts, injection/validity.ts). */
const LARGE = 16_384;
const asking = [annotations.retry, annotations.injectContainers, annotations.excludeContainers];

function askedIn(metadata: Metadata): string | undefined {
  const { labels: own = {}, annotations: found = {} } = status.removeInjectionStatus(metadata);
  const size = annotationBytes({ annotations: found });
  const asked = [asking.map((key) => found[key] ?? null), Object.entries(own).sort(), size > LARGE ? [size] : []];
  return asked.flat().some((each) => each !== null) ? digest(JSON.stringify(asked)) : undefined;
}
