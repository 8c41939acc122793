import { isDeepStrictEqual } from 'node:util';
import { maxReceived, type WorkloadKind } from '../contract.ts';
import type { TokenSource } from '../credentials/credential.ts';
import { Kept } from '../kubernetes/watch/kept.ts';
import { toLabelled, type Labelled } from './senders.ts';

/** The counts have a workload for a minute after it sent something, which its pods do until their grace period ends. */
const COUNTED_MS = 60_000 + 30_000;

/** Knows the labelled workloads, and from which instrumented ones the telemetry proxy of this replica received data. */
export class InstrumentedSenders {
  isComplete = false;
  private readonly kept: Kept<Labelled>[] = [];
  private readonly received = new Map<string, Set<string>>();
  private readonly unreported = new Set<string>();
  /** By uid, and by name, which is all that the counts have. */
  private readonly endedAt = new Map<string, number>();
  private isListFull = false;

  constructor(private readonly onOptIn: () => void) {}

  handler(kind: WorkloadKind): Kept<Labelled> {
    const kept = new Kept<Labelled>(
      ({ metadata }) => toLabelled(kind, metadata),
      (now, before) => {
        if (before?.isInstrumented === true && now?.isInstrumented !== true) this.forget(before);
        if (!isDeepStrictEqual(now?.optIn, before?.optIn)) this.onOptIn();
      },
    );
    this.kept.push(kept);
    return kept;
  }

  /** The Secrets of workloads that opt in. */
  sources(counts: (namespace: string) => boolean): readonly TokenSource[] {
    return this.labelled().flatMap(({ optIn }) => (optIn !== undefined && counts(optIn.namespace) ? optIn : []));
  }

  /** Undefined until all workloads are known. */
  uids(): ReadonlySet<string> | undefined {
    return this.isComplete ? new Set(this.instrumented().map(({ uid }) => uid)) : undefined;
  }

  /** True while telemetry is missing from any of them, or not reported, unless there is no room to report it. */
  get isAnyAwaited(): boolean {
    return !this.isListFull && (this.unreported.size > 0 || this.instrumented().some((sender) => this.isNew(sender)));
  }

  hear(names: readonly string[], now = performance.now()): void {
    for (const [key, at] of this.endedAt) if (now >= at + COUNTED_MS) this.endedAt.delete(key);
    const byName = new Map(this.instrumented().map((sender) => [sender.name, sender]));
    for (const name of names) {
      const sender = byName.get(name) ?? byName.get(toRollout(name));
      if (sender === undefined || this.endedAt.has(sender.name) || !this.isNew(sender)) continue;
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

  /** True for half of the time in which no replica hears a uid again, so the leader removes no uid of a later injection. */
  hasJustEnded(uid: string): boolean {
    return performance.now() < (this.endedAt.get(uid) ?? -Infinity) + COUNTED_MS / 2;
  }

  private labelled(): readonly Labelled[] {
    return this.kept.flatMap((kept) => kept.values());
  }

  private instrumented(): readonly Labelled[] {
    return this.labelled().filter(({ isInstrumented }) => isInstrumented);
  }

  private isNew({ namespace, uid }: Labelled): boolean {
    const there = this.received.get(namespace);
    return there === undefined || (there.size < maxReceived.perNamespace && !there.has(uid));
  }

  private forget({ namespace, uid, name }: Labelled): void {
    this.unreported.delete(uid);
    for (const key of [uid, name]) this.endedAt.set(key, performance.now());
    const there = this.received.get(namespace);
    there?.delete(uid);
    if (there?.size === 0) this.received.delete(namespace);
  }
}

/** The ReplicaSet of a Rollout has the Rollout's name and a hash of its template. */
const toRollout = (name: string): string => name.replace(/^([^/]+)\/ReplicaSet\/(.+)-[^-]+$/, '$1/Rollout/$2');
