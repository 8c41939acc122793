import { isDeepStrictEqual } from 'node:util';
import { Topic } from '../async/topic.ts';
import { lumigo as contract } from '../contract.ts';
import { effectiveLumigo, getPolicy, whenExcluded } from '../injection/policy.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { isOlder } from '../kubernetes/resources/objects.ts';
import { essentialLumigo, isOurs } from './essential-lumigo.ts';

export class LumigoStore {
  private readonly byNamespace = new Map<string, Map<string, LumigoResource>>();
  readonly policyChanged = new Topic<[namespace: string]>();
  private readonly policies = new Map<string, NamespacePolicy>();

  constructor(
    private readonly excluded: readonly string[],
    private readonly noPodMode?: string,
  ) {}

  /** Returns whether it is news. A list may have lower versions, because a restored backup does. */
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

  /** Takes the answer to a write. The watch may have reported a deletion before it. */
  update(lumigo: LumigoResource): void {
    const { namespace, uid } = lumigo.metadata;
    if (this.byNamespace.get(namespace)?.has(uid) === true) this.upsert(lumigo);
  }

  delete(namespace: string, uid: string): void {
    const there = this.byNamespace.get(namespace);
    if (there === undefined) return;
    there.delete(uid);
    if (there.size === 0) this.byNamespace.delete(namespace);
    this.judge(namespace);
  }

  /** Omits resources that are being deleted without the operator's finalizer. */
  in(namespace: string): readonly LumigoResource[] {
    return [...(this.byNamespace.get(namespace)?.values() ?? [])].filter(isOurs);
  }

  /** Includes those that `in` omits. */
  count(namespace: string): number {
    return this.byNamespace.get(namespace)?.size ?? 0;
  }

  effective(namespace: string): LumigoResource | undefined {
    return effectiveLumigo(this.in(namespace));
  }

  namespaces(): string[] {
    return [...this.byNamespace.keys()].filter((namespace) => this.in(namespace).length > 0);
  }

  isExcluded(namespace: string): boolean {
    return this.excluded.includes(namespace);
  }

  /** Returns the same object until it changes, so that a plan can compare policies. */
  policy(namespace: string): NamespacePolicy {
    return this.policies.get(namespace) ?? (this.isExcluded(namespace) ? excluded : none);
  }

  /** Returns the policy if the webhook injects a workload of that time by it. With a report, it leaves some. */
  atCreation({ namespace, createdAt }: Record<'namespace' | 'createdAt', string>): NamespacePolicy | undefined {
    const { conditions, injector } = this.effective(namespace)?.status ?? {};
    const activeAt = conditions?.find(({ type }) => type === 'Active')?.lastTransitionTime ?? '';
    return injector === undefined && createdAt > activeAt ? this.policy(namespace) : undefined;
  }

  private judge(namespace: string): void {
    const found = getPolicy(this.in(namespace), this.noPodMode);
    const policy = this.isExcluded(namespace) ? whenExcluded(found) : found;
    if (isDeepStrictEqual(policy, this.policy(namespace))) return;
    if (policy.kind === 'none' || policy.kind === 'excluded') this.policies.delete(namespace);
    else this.policies.set(namespace, policy);
    this.policyChanged.emit(namespace);
  }

  *known(): Iterable<{ namespace: string; name: string; uid: string }> {
    for (const there of this.byNamespace.values())
      for (const { metadata } of there.values())
        yield { namespace: metadata.namespace, name: metadata.name, uid: metadata.uid };
  }
}

const none: NamespacePolicy = { kind: 'none' };
const excluded: NamespacePolicy = { kind: 'excluded' };

export const lumigoRef = ({ metadata: { namespace, name } }: LumigoResource) => ({ ...contract, namespace, name });
