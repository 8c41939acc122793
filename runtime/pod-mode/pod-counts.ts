import type { Logger } from 'pino';
import { unlessAborted } from '../async/aborted.ts';
import { Debounce } from '../async/debounce.ts';
import { failureLog } from '../async/retrying.ts';
import { toInjector, type RuntimeConfig } from '../config/config.ts';
import { annotations, pods, suffixes } from '../contract.ts';
import { decidePod } from '../injection/decide-pod.ts';
import { optedOut } from '../injection/label.ts';
import type { Problem } from '../api/lumigo.ts';
import type { Metadata } from '../api/objects.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import type { Client } from '../kubernetes/http/client.ts';
import type { Transport } from '../kubernetes/http/transport.ts';
import { termClient, type LeadingContext } from '../kubernetes/lease/leading-term.ts';
import { admission } from '../kubernetes/resources/kinds.ts';
import { findPod, NOT_ENDED } from '../kubernetes/resources/pods.ts';
import type { LumigoStore } from '../lumigo/lumigo-store.ts';
import { describeError } from '../wording/errors.ts';

export interface PodsSeen {
  readonly injected: number;
  /** Pods that would be injected if they were created now. If `isPartial`, others are not read yet. */
  readonly without: number;
  readonly isPartial: boolean;
  /** Undefined if the API server did not answer. */
  readonly policy: Problem | 'working' | undefined;
}

interface PodCountsOptions {
  readonly transport: Transport;
  readonly lumigoes: LumigoStore;
  readonly synced: Promise<void>;
  readonly config: RuntimeConfig;
  /** Undefined: the namespace is no longer in Pod mode. */
  readonly onSeen: (namespace: string, seen: PodsSeen | undefined) => void;
  readonly logger: Logger;
}

/** By the uid of a controller. A StatefulSet keeps its uid while its pods change, so a verdict holds for one pod. */
type Verdicts = Map<string, Readonly<{ policy: NamespacePolicy; uid: string; isWanted: boolean }>>;
/** The first pod of a controller, and the number of its pods. */
type Found = Readonly<{ name: string; uid: string; count: number }>;
type ByController = Map<string, Found>;

const MINUTE_MS = 60_000;
/** Per namespace and minute. */
const MAX_PODS = 10_000;
const MAX_READS = 20;

/** Counts pods without the injection, a minute after the last count and after a change of the namespace's policy. It reads one pod per controller, once. */
export class PodCounts {
  readonly name = 'pod counts';
  readonly needsToLead = true;
  private readonly verdicts = new Map<string, Verdicts>();

  constructor(private readonly options: PodCountsOptions) {}

  readonly run = async (term: LeadingContext): Promise<void> => {
    const { transport, lumigoes, synced, config, onSeen, logger } = this.options;
    const { signal } = term;
    const client = termClient(transport, term);
    await unlessAborted(synced, signal);
    this.verdicts.clear();
    const changes = new Debounce({ quietMs: 1_000, atMostMs: 10_000 });
    const changed = new Set<string>();
    const isInPodMode = (namespace: string): boolean => lumigoes.policy(namespace).kind === 'pods';
    // Other namespaces do not matter: an editor can change their policies at any rate.
    lumigoes.policyChanged.on((namespace) => {
      if (!isInPodMode(namespace) && !this.verdicts.has(namespace)) return;
      changed.add(namespace);
      changes.touch();
    }, signal);
    const report = failureLog(logger, 'cannot count pods');
    const attempt = async <T>(subject: object, work: Promise<T>): Promise<T | undefined> => {
      const problem = await work.then(() => undefined, describeError);
      if (!signal.aborted) report(subject, problem);
      return problem === undefined ? work : undefined;
    };
    for (let allAt = 0; !signal.aborted; await changes.wait(Math.max(0, allAt - performance.now()), signal)) {
      const isAll = performance.now() >= allAt;
      const inPodMode = lumigoes.namespaces().filter(isInPodMode);
      for (const namespace of [...this.verdicts.keys()].filter((each) => !inPodMode.includes(each))) {
        this.verdicts.delete(namespace);
        onSeen(namespace, undefined);
      }
      const due = inPodMode.filter((namespace) => isAll || changed.has(namespace));
      changed.clear();
      const policy = due.length === 0 ? undefined : await attempt({}, checkPodPolicy(client, config.operatorName));
      for (const namespace of due) await attempt({ namespace }, this.count(client, namespace, policy));
      if (isAll) allAt = performance.now() + MINUTE_MS;
    }
  };

  private async count(client: Client, namespace: string, policy: PodsSeen['policy']): Promise<void> {
    const ofPods = { metadataOnly: true, fieldSelector: NOT_ENDED };
    const { injected, open, isPartial } = await tally(client.pages({ ...pods, namespace }, ofPods));
    const verdicts = await this.judge(client, namespace, open);
    const wanted = [...open].filter(([owner]) => verdicts.get(owner)?.isWanted === true).map(([, found]) => found);
    const without = wanted.reduce((sum, { count }) => sum + count, 0);
    this.options.onSeen(namespace, { injected, without, isPartial: isPartial || verdicts.size < open.size, policy });
  }

  private async judge(client: Client, namespace: string, open: ByController): Promise<Verdicts> {
    const policy = this.options.lumigoes.policy(namespace);
    const known = this.verdicts.get(namespace);
    const verdicts: Verdicts = new Map();
    let reads = 0;
    for (const [owner, first] of open) {
      let verdict = known?.get(owner);
      if (verdict?.policy !== policy || verdict.uid !== first.uid) {
        reads += 1;
        verdict = reads > MAX_READS ? undefined : await this.decide(client, policy, namespace, first);
      }
      if (verdict !== undefined) verdicts.set(owner, verdict);
    }
    this.verdicts.set(namespace, verdicts);
    return verdicts;
  }

  private async decide(client: Client, policy: NamespacePolicy, namespace: string, { name, uid }: Found) {
    const pod = await findPod(client, namespace, name);
    if (pod?.metadata.uid !== uid) return undefined;
    return { policy, uid, isWanted: decidePod(pod, policy, toInjector(this.options.config)).kind === 'inject' };
  }
}

export async function tally(pages: AsyncIterable<{ readonly items: readonly { readonly metadata: Metadata }[] }>) {
  let listed = 0;
  let injected = 0;
  const open: ByController = new Map();
  for await (const { items } of pages) {
    for (const { metadata } of items)
      if (metadata.annotations?.[annotations.injection] !== undefined) injected += 1;
      else if (!isSkipped(metadata)) add(open, metadata);
    listed += items.length;
    if (listed > MAX_PODS) break;
  }
  return { injected, open, isPartial: listed > MAX_PODS };
}

export const isSkipped = (metadata: Metadata): boolean =>
  metadata.deletionTimestamp !== undefined ||
  metadata.annotations?.[annotations.mirror] !== undefined ||
  optedOut(metadata);

/** Kubernetes does not check the uids of owners. */
const findController = ({ ownerReferences = [] }: Metadata) =>
  ownerReferences.find(({ controller, uid }) => controller === true && uid.length <= 36);

export function add(open: ByController, metadata: Metadata): void {
  const { name = '', uid = '' } = metadata;
  const owner = findController(metadata)?.uid ?? uid;
  const first = open.get(owner) ?? { name, uid, count: 0 };
  open.set(owner, { ...first, count: first.count + 1 });
}

const plurals = ['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'] as const;

/** Looks if the API server has the policy that injects new pods. Rejects if it does not answer. */
async function checkPodPolicy(client: Client, operatorName: string): Promise<Problem | 'working'> {
  const name = `${operatorName}${suffixes.podPolicy}`;
  const found = await Promise.all(
    plurals.map((plural) => client.find({ ...admission, plural, name }, { metadataOnly: true })),
  );
  if (!found.includes(undefined)) return 'working';
  return {
    reason: 'PodPolicyMissing',
    message: `The MutatingAdmissionPolicy '${name}' or its binding does not exist, so new pods run without the injection. Apply the operator's manifests again`,
  };
}
