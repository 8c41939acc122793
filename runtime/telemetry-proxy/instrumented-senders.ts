import { maxReceived, type WorkloadKind } from '../contract.ts';
import { findOwner } from '../injection/eligibility.ts';
import { ourLabel } from '../injection/label.ts';
import { Kept } from '../kubernetes/watch/kept.ts';
import type { ListWatchHandler } from '../kubernetes/watch/list-watch.ts';

interface Sender {
  readonly namespace: string;
  readonly uid: string;
  readonly name: string;
}

/** Knows which instrumented workloads the telemetry proxy of this replica received data from. */
export class InstrumentedSenders {
  isComplete = false;
  private readonly byName = new Map<string, Sender>();
  private readonly received = new Map<string, Set<string>>();
  private readonly unreported = new Set<string>();
  private isListFull = false;

  handler({ kind }: WorkloadKind): Kept<Sender> {
    return new Kept<Sender>(
      ({ metadata }) => {
        const { namespace = '', uid } = metadata;
        // A Deployment's ReplicaSets have the label of its template, and send nothing under their own name.
        return ourLabel(metadata) === undefined || findOwner(kind, metadata) !== undefined
          ? undefined
          : { namespace, uid, name: `${namespace}/${kind}/${metadata.name}` };
      },
      (now, before) => {
        if (before !== undefined && before.uid !== now?.uid) this.forget(before);
        if (now !== undefined) this.byName.set(now.name, now);
      },
    );
  }

  /** Undefined until all workloads are known. */
  uids(): ReadonlySet<string> | undefined {
    if (!this.isComplete) return undefined;
    return new Set([...this.byName.values()].map(({ uid }) => uid));
  }

  /** True while telemetry is missing from any of them, or not reported, unless there is no room to report it. */
  get isAnyAwaited(): boolean {
    if (this.isListFull) return false;
    return this.unreported.size > 0 || [...this.byName.values()].some((sender) => this.isNew(sender));
  }

  hear(names: readonly string[]): void {
    for (const name of names) {
      const sender = this.find(name);
      if (sender === undefined || !this.isNew(sender)) continue;
      const there = this.received.get(sender.namespace) ?? new Set();
      this.received.set(sender.namespace, there.add(sender.uid));
      this.unreported.add(sender.uid);
    }
  }

  /** The uids that are not reported yet. */
  pending(): readonly string[] {
    return [...this.unreported];
  }

  /** Call it with the pending uids that are listed. If it lacks any, the list is full. */
  reported(uids: readonly string[]): void {
    for (const uid of uids) this.unreported.delete(uid);
    this.isListFull = this.unreported.size > 0;
  }

  private isNew({ namespace, uid }: Sender): boolean {
    const there = this.received.get(namespace);
    return there === undefined || (there.size < maxReceived.perNamespace && !there.has(uid));
  }

  /** The ReplicaSet of a Rollout has the Rollout's name and a hash of its template. */
  private find(name: string): Sender | undefined {
    const [, namespace, rollout] = /^([^/]+)\/ReplicaSet\/(.+)-[^-]+$/.exec(name) ?? [];
    return this.byName.get(name) ?? this.byName.get(`${namespace}/Rollout/${rollout}`);
  }

  private forget({ namespace, uid, name }: Sender): void {
    if (this.byName.get(name)?.uid === uid) this.byName.delete(name);
    this.unreported.delete(uid);
    const there = this.received.get(namespace);
    there?.delete(uid);
    if (there?.size === 0) this.received.delete(namespace);
  }
}

/** One watch feeds both, because the labels are the same. */
export const feedBoth = (...both: readonly ListWatchHandler[]): ListWatchHandler => ({
  upsert: (...seen) => both.forEach((each) => each.upsert(...seen)),
  delete: (identity) => both.forEach((each) => each.delete(identity)),
  known: () => both.flatMap((each) => [...each.known()]),
});
