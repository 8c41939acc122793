import { setTimeout as sleep } from 'node:timers/promises';
import { annotations, injector, pods } from '../../runtime/contract.ts';
import type { PodSpec } from '../../runtime/api/objects.ts';
import { listAll } from '../../runtime/kubernetes/http/client.ts';
import { undefinedIfNotFound } from '../../runtime/kubernetes/http/errors.ts';
import type { KubernetesObject } from '../../runtime/kubernetes/resources/objects.ts';
import type { TestCluster } from './test-cluster.ts';
import { podStatus, type Outcome } from './pod-outcomes.ts';

export type HandledPod = ReturnType<typeof handled> & { readonly ordered: Outcome | undefined };

const POLL_MS = 100;
const hashLabels = ['pod-template-hash', 'controller-revision-hash', 'rollouts-pod-template-hash'];

/** Writes the statuses of a namespace's pods as a kubelet would, until it is stopped. Real controllers create the pods. */
export class KubeletByHand {
  private readonly ordered = new Map<string, HandledPod>();
  private readonly ending = new AbortController();
  private readonly running: Promise<void>;

  /** @param outcome called repeatedly, because a ready pod can crash. Default: each pod is ready */
  constructor(
    private readonly testCluster: TestCluster,
    private readonly namespace: string,
    private readonly outcome: (pod: HandledPod) => Outcome = () => 'ready',
  ) {
    this.running = this.run();
  }

  async pods(): Promise<KubernetesObject[]> {
    const found = await listAll(this.testCluster.client, { ...pods, namespace: this.namespace });
    return found.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  seen = (app?: string): HandledPod[] =>
    [...this.ordered.values()].filter((pod) => app === undefined || pod.app === app);

  async stop(): Promise<void> {
    this.ending.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    while (!this.ending.signal.aborted) {
      try {
        await this.look();
      } catch {
        // The next look is after the API server is back.
      }
      await sleep(POLL_MS, undefined, { signal: this.ending.signal }).catch(() => undefined);
    }
  }

  private async look(): Promise<void> {
    const found = await this.pods();
    const uids = new Set(found.map(({ metadata }) => metadata.uid));
    for (const uid of this.ordered.keys()) if (!uids.has(uid)) this.ordered.delete(uid);
    await Promise.allSettled(found.map((pod) => this.say(pod)));
  }

  /** Notes the outcome right after its own write, because others may take longer. */
  private async say(pod: KubernetesObject): Promise<void> {
    const { name, uid = '' } = pod.metadata;
    const before: HandledPod = { ...handled(pod), ordered: this.ordered.get(uid)?.ordered };
    const outcome = this.outcome(before);
    // Without its image, a pod does not start, but a running one continues.
    if (outcome === before.ordered || (isReady(before) && outcome === 'no-injector-image')) return;
    const ref = { ...pods, namespace: this.namespace, name };
    await this.testCluster.setStatus(ref, podStatus(outcome, pod)).catch(undefinedIfNotFound);
    this.ordered.set(uid, { ...before, ordered: outcome });
  }
}

export const isReady = ({ ordered }: HandledPod): boolean => ordered === 'ready';

function handled({ metadata, spec }: KubernetesObject) {
  const { initContainers = [] } = (spec ?? {}) as Partial<PodSpec>;
  const { name, uid = '', labels, annotations: own } = { labels: {}, annotations: {}, ...metadata };
  const image = initContainers.find((each) => each.name === injector.container)?.image;
  return {
    name,
    uid,
    app: labels['app'] ?? '',
    /** The image of its injector, or undefined without an injection. */
    injector: annotations.injection in own ? image : undefined,
    /** The controller distinguishes pods of different templates by this hash. */
    hash: hashLabels.flatMap((label) => labels[label] ?? []).join(''),
  };
}
