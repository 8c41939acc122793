import { isDeepStrictEqual } from 'node:util';
import { lumigo as contract } from '../contract.ts';
import { actingLumigo, policyOf } from '../injection/policy.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { isOlder } from '../kubernetes/resources/objects.ts';
import { essentialLumigo } from './essential-lumigo.ts';

/**
 * The Lumigo resources of the cluster as this replica last saw them, and the policy that follows for each namespace.
 * The webhook of every replica reads it; the watch fills it. Of each resource it keeps what is bounded (essential-lumigo.ts).
 */
export class LumigoStore {
  private readonly byNamespace = new Map<string, Map<string, LumigoResource>>();
  private readonly listeners = new Set<(namespace: string) => void>();
  private readonly policies = new Map<string, NamespacePolicy>();
  private readonly excluded: ReadonlySet<string>;

  /** `noPodMode`: why the installation has no Pod mode; undefined if it has one. */
  constructor(
    excludedNamespaces: Iterable<string>,
    private readonly noPodMode?: string,
  ) {
    this.excluded = new Set(excludedNamespaces);
  }

  /**
   * Takes what the watch or a write's answer says, and returns whether it is news. What is older than what is known is not,
   * except in a list, which shows what there is: after a restored backup its versions are lower.
   */
  upsert(lumigo: LumigoResource, isListed = false): boolean {
    const { namespace, uid, resourceVersion = '' } = lumigo.metadata;
    const there = this.byNamespace.get(namespace) ?? new Map<string, LumigoResource>();
    const known = there.get(uid)?.metadata.resourceVersion;
    if (known === resourceVersion || (!isListed && known !== undefined && isOlder(resourceVersion, known)))
      return false;
    this.byNamespace.set(namespace, there.set(uid, essentialLumigo(lumigo)));
    this.judge(namespace);
    return true;
  }

  delete(namespace: string, uid: string): void {
    const there = this.byNamespace.get(namespace);
    if (there === undefined) return;
    there.delete(uid);
    if (there.size === 0) this.byNamespace.delete(namespace);
    this.judge(namespace);
  }

  /** Those that count: one that is on its way out without our finalizer is somebody else's matter. */
  in(namespace: string): readonly LumigoResource[] {
    return [...(this.byNamespace.get(namespace)?.values() ?? [])].filter(isOurs);
  }

  acting(namespace: string): LumigoResource | undefined {
    return actingLumigo(this.in(namespace));
  }

  /** Any Lumigo that acts. */
  active(): LumigoResource | undefined {
    for (const namespace of this.byNamespace.keys())
      if (isActing(this.policy(namespace))) return this.acting(namespace);
    return undefined;
  }

  /** Those with a Lumigo that counts. */
  namespaces(): string[] {
    return [...this.byNamespace.keys()].filter((namespace) => this.in(namespace).length > 0);
  }

  isExcluded(namespace: string): boolean {
    return this.excluded.has(namespace);
  }

  /** What holds in a namespace: the same object for as long as it says the same, so that a plan can be held to its policy. */
  policy(namespace: string): NamespacePolicy {
    return this.excluded.has(namespace) ? excluded : (this.policies.get(namespace) ?? none);
  }

  private judge(namespace: string): void {
    const policy = policyOf(this.in(namespace), this.noPodMode);
    const before = this.policies.get(namespace) ?? none;
    if (isDeepStrictEqual(policy, before)) return;
    if (policy.state === 'none') this.policies.delete(namespace);
    else this.policies.set(namespace, policy);
    for (const listener of this.listeners) listener(namespace);
  }

  /** Tells of each namespace in which something else holds from now on, whoever brought it, until the signal is aborted. */
  onPolicy(listener: (namespace: string) => void, signal: AbortSignal): void {
    this.listeners.add(listener);
    signal.addEventListener('abort', () => this.listeners.delete(listener), { once: true });
  }

  *known(): Iterable<{ namespace: string; name: string; uid: string }> {
    for (const there of this.byNamespace.values())
      for (const { metadata } of there.values())
        yield { namespace: metadata.namespace, name: metadata.name, uid: metadata.uid };
  }
}

/** Whether something is injected in a namespace: into its workloads, or into its pods. */
export const isActing = ({ state }: NamespacePolicy): boolean => state === 'active' || state === 'pods';

const none: NamespacePolicy = { state: 'none' };
const excluded: NamespacePolicy = { state: 'excluded' };

/** Whether a Lumigo is this operator's to answer: it is there to stay, or waits for us to let it go. */
export const isOurs = ({ metadata: { deletionTimestamp, finalizers } }: LumigoResource): boolean =>
  deletionTimestamp === undefined || finalizers?.includes(contract.finalizer) === true;

/** Names a Lumigo resource in a request. */
export const lumigoRef = ({ metadata: { namespace, name } }: LumigoResource) => ({ ...contract, namespace, name });
