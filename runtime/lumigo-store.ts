import { actingLumigo, policyOf } from './injection/policy.ts';
import type { LumigoResource, NamespacePolicy } from './injection/types.ts';

/**
 * The Lumigo resources of the cluster as this replica last saw them, and the policy that follows for each namespace.
 * The webhook of every replica reads it; the watch fills it. The list of instrumented resources is left out: nobody reads
 * it from here, and it is the one part of a Lumigo that grows.
 */
export class LumigoStore {
  readonly #byNamespace = new Map<string, Map<string, LumigoResource>>();
  readonly #policies = new Map<string, NamespacePolicy>();
  readonly #excluded: ReadonlySet<string>;

  constructor(excludedNamespaces: Iterable<string>) {
    this.#excluded = new Set(excludedNamespaces);
  }

  /** Takes what the watch or a write's answer says. Returns whether anything but the status differs from before. */
  upsert(lumigo: LumigoResource): boolean {
    const { namespace, uid } = lumigo.metadata;
    const before = this.#byNamespace.get(namespace)?.get(uid);
    const there = this.#byNamespace.get(namespace) ?? new Map<string, LumigoResource>();
    this.#byNamespace.set(namespace, there.set(uid, withoutGrowth(lumigo)));
    this.#policies.delete(namespace);
    return before === undefined || telling(before) !== telling(lumigo);
  }

  delete(namespace: string, uid: string): void {
    const there = this.#byNamespace.get(namespace);
    if (there === undefined) return;
    there.delete(uid);
    if (there.size === 0) this.#byNamespace.delete(namespace);
    this.#policies.delete(namespace);
  }

  in(namespace: string): readonly LumigoResource[] {
    return [...(this.#byNamespace.get(namespace)?.values() ?? [])];
  }

  acting(namespace: string): LumigoResource | undefined {
    return actingLumigo(this.in(namespace));
  }

  /** Any Lumigo that acts. */
  active(): LumigoResource | undefined {
    for (const namespace of this.#byNamespace.keys())
      if (this.policy(namespace).state === 'active') return this.acting(namespace);
    return undefined;
  }

  namespaces(): string[] {
    return [...this.#byNamespace.keys()];
  }

  isExcluded(namespace: string): boolean {
    return this.#excluded.has(namespace);
  }

  /** What holds in a namespace. An excluded one is as if it held no Lumigo, and no opt-in counts there either. */
  policy(namespace: string): NamespacePolicy {
    if (this.#excluded.has(namespace) || !this.#byNamespace.has(namespace)) return { state: 'none' };
    const known = this.#policies.get(namespace);
    if (known !== undefined) return known;
    const policy = policyOf(this.in(namespace));
    this.#policies.set(namespace, policy);
    return policy;
  }

  *known(): Iterable<{ namespace: string; name: string; uid: string }> {
    for (const there of this.#byNamespace.values())
      for (const { metadata } of there.values())
        yield { namespace: metadata.namespace, name: metadata.name, uid: metadata.uid };
  }
}

/** What of a Lumigo asks for something to be done: not its status, which the leader writes itself. */
const telling = ({ metadata: { generation, deletionTimestamp, finalizers } }: LumigoResource): string =>
  JSON.stringify([generation, deletionTimestamp, finalizers]);

function withoutGrowth(lumigo: LumigoResource): LumigoResource {
  const { managedFields: _fields, ...metadata } = lumigo.metadata as LumigoResource['metadata'] & {
    managedFields?: unknown;
  };
  const { instrumentedResources: _list, ...status } = lumigo.status ?? {};
  return { ...lumigo, metadata: metadata as LumigoResource['metadata'], status };
}
