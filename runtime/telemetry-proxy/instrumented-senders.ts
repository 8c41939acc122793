import type { WorkloadKind } from '../contract.ts';
import { findOwner } from '../injection/eligibility.ts';
import { ourLabel } from '../injection/label.ts';
import { Kept } from '../kubernetes/watch/kept.ts';
import type { ListWatchHandler } from '../kubernetes/watch/list-watch.ts';

interface Sender {
  readonly namespace: string;
  readonly uid: string;
  readonly name: string;
}

/** Per namespace, so that one tenant cannot fill the list of all. */
const MAX_RECEIVED = 2_000;

/** Knows which instrumented workloads the telemetry proxy of this replica received data from. */
export class InstrumentedSenders {
  isComplete = false;
  private readonly byName = new Map<string, Sender>();
  private readonly received = new Map<string, Set<string>>();
  private readonly unreported = new Set<string>();

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

  /** True while telemetry is missing from any of them, or not reported. */
  get isAnyAwaited(): boolean {
    const received = [...this.received.values()].reduce((sum, { size }) => sum + size, 0);
    return received < this.byName.size || this.unreported.size > 0;
  }

  hear(names: readonly string[]): void {
    for (const name of names) {
      const sender = this.find(name);
      if (sender === undefined) continue;
      const there = this.received.get(sender.namespace) ?? new Set();
      if (there.has(sender.uid) || there.size >= MAX_RECEIVED) continue;
      this.received.set(sender.namespace, there.add(sender.uid));
      this.unreported.add(sender.uid);
    }
  }

  /** The uids that are not reported yet. */
  pending(): readonly string[] {
    return [...this.unreported];
  }

  reported(uids: readonly string[]): void {
    for (const uid of uids) this.unreported.delete(uid);
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
export const feedBoth = (a: ListWatchHandler, b: ListWatchHandler): ListWatchHandler => ({
  upsert(...seen) {
    a.upsert(...seen);
    b.upsert(...seen);
  },
  delete(identity) {
    a.delete(identity);
    b.delete(identity);
  },
  *known() {
    yield* a.known();
    yield* b.known();
  },
});
