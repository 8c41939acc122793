import { Debounce } from '../async/debounce.ts';
import { injectorOf } from '../config/config.ts';
import { annotations } from '../contract.ts';
import { decidePod } from '../injection/decide-pod.ts';
import { optedOut } from '../injection/label.ts';
import type { Metadata } from '../api/objects.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { describeError } from '../wording/errors.ts';
import type { PodsSeen } from './observed.ts';
import type { Term } from './term.ts';

/** If the pods of a controller would be injected under a policy. */
interface Verdict {
  readonly policy: NamespacePolicy;
  readonly isWanted: boolean;
}

const MINUTE_MS = 60_000;
const pause = { quietMs: 5, atMostMs: 100 };
/** The bounds for a namespace in a minute. */
const MOST = { pods: 10_000, reads: 20 } as const;

/**
 * Counts, each minute and whenever a policy changes, the pods that run without the injection. It lists metadata and reads one pod of each
 * controller, once, to see if the policy would inject it.
 */
export class PodCounts {
  private readonly seen = new Map<string, PodsSeen>();
  /** By namespace and controller. */
  private readonly verdicts = new Map<string, ReadonlyMap<string, Verdict>>();

  constructor(private readonly term: Term) {}

  of(namespace: string): PodsSeen | undefined {
    return this.seen.get(namespace);
  }

  /** Counts until the end of the term. */
  async run(): Promise<void> {
    const { lumigoes, logger, signal } = this.term;
    const changes = new Debounce(pause);
    lumigoes.onPolicy(() => changes.touch(), signal);
    for (; !signal.aborted; await changes.wait(MINUTE_MS, signal)) {
      const inPodMode = lumigoes.namespaces().filter((namespace) => lumigoes.policy(namespace).state === 'pods');
      for (const namespace of this.seen.keys()) if (!inPodMode.includes(namespace)) this.forget(namespace);
      for (const namespace of inPodMode)
        await this.count(namespace).catch((error: unknown) => {
          if (!signal.aborted) logger.debug({ namespace, problem: describeError(error) }, 'cannot count pods');
        });
    }
  }

  private forget(namespace: string): void {
    this.seen.delete(namespace);
    this.verdicts.delete(namespace);
  }

  private async count(namespace: string): Promise<void> {
    const { api, enqueue } = this.term;
    const listed: Metadata[] = [];
    for await (const { items } of api.podPages(namespace)) {
      listed.push(...items.map(({ metadata }) => metadata));
      if (listed.length >= MOST.pods) break;
    }
    const injected = listed.filter(isInjected).length;
    const open = new Map<string, Metadata[]>();
    for (const pod of listed.filter((each) => !isInjected(each) && !isLeftAlone(each)))
      open.set(ownerOf(pod), [...(open.get(ownerOf(pod)) ?? []), pod]);
    const wanted = await this.wanted(namespace, open);
    const restart = [...new Set(wanted.flatMap((pod) => targetOf(pod) ?? []))].sort();
    const [before, now] = [this.seen.get(namespace), { namespace, injected, without: wanted.length, restart }];
    this.seen.set(namespace, now);
    if (JSON.stringify(before) !== JSON.stringify(now)) enqueue(namespace);
  }

  /** The pods that the policy would inject. */
  private async wanted(namespace: string, open: ReadonlyMap<string, readonly Metadata[]>): Promise<Metadata[]> {
    const policy = this.term.lumigoes.policy(namespace);
    const [all, verdicts]: [Metadata[], Map<string, Verdict>] = [[], new Map()];
    let reads = 0;
    for (const [owner, found] of open) {
      const known = this.verdicts.get(namespace)?.get(owner);
      const isKnown = known?.policy === policy;
      if (!isKnown) reads += 1;
      if (reads > MOST.reads) continue;
      const verdict = isKnown ? known : await this.decide(namespace, policy, found);
      verdicts.set(owner, verdict);
      if (verdict.isWanted) all.push(...found);
    }
    this.verdicts.set(namespace, verdicts);
    return all;
  }

  private async decide(namespace: string, policy: NamespacePolicy, [first]: readonly Metadata[]): Promise<Verdict> {
    const { api, config } = this.term;
    const pod = await api.findPod(namespace, first?.name ?? '');
    const decision = pod && decidePod({ pod, policy, injector: injectorOf(config) });
    return { policy, isWanted: decision?.action === 'inject' };
  }
}

const isInjected = ({ annotations: notes }: Metadata): boolean => notes?.[annotations.injection] !== undefined;

const isLeftAlone = (metadata: Metadata): boolean =>
  metadata.deletionTimestamp !== undefined ||
  metadata.annotations?.[annotations.mirror] !== undefined ||
  optedOut(metadata);

const controllerOf = ({ ownerReferences = [] }: Metadata) =>
  ownerReferences.find(({ controller }) => controller === true);

/** The pods of one controller have one template. */
const ownerOf = (metadata: Metadata): string => controllerOf(metadata)?.uid ?? metadata.uid ?? '';

const restartable = ['StatefulSet', 'DaemonSet'];

/** A ReplicaSet has the name of its Deployment, and a hash of the template. */
function targetOf(metadata: Metadata): string | undefined {
  const { kind = '', name = '' } = controllerOf(metadata) ?? {};
  if (restartable.includes(kind)) return `${kind.toLowerCase()}/${name}`;
  const hash = metadata.labels?.['pod-template-hash'];
  const isOfDeployment = kind === 'ReplicaSet' && hash !== undefined && name.endsWith(`-${hash}`);
  return isOfDeployment ? `deployment/${name.slice(0, -hash.length - 1)}` : undefined;
}
