import { setTimeout as sleep } from 'node:timers/promises';
import { pods } from '../../runtime/contract.ts';
import type { KubernetesObject } from '../../runtime/kubernetes/resources/objects.ts';
import { listAll } from '../../runtime/kubernetes/http/client.ts';
import { undefinedIfNotFound } from '../../runtime/kubernetes/http/errors.ts';
import type { Bench } from './bench.ts';
import { statuses, type Outcome } from './pods-by-hand.ts';

/** Says of each pod of a namespace what becomes of it, as a kubelet would, for as long as it runs; controllers make them. */
export class KubeletByHand {
  private readonly said = new Set<string>();
  private readonly ending = new AbortController();
  private readonly running: Promise<void>;
  /** The fewest pods that were ready at once since there were so many. */
  fewest = Infinity;

  constructor(
    private readonly bench: Bench,
    private readonly namespace: string,
    private readonly outcome: (pod: KubernetesObject) => Outcome = () => 'ready',
  ) {
    this.running = this.run();
  }

  /** Those that are not going. */
  async pods(): Promise<KubernetesObject[]> {
    const found = await listAll(this.bench.client, { ...pods, namespace: this.namespace });
    return found.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  async stop(): Promise<void> {
    this.ending.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    while (!this.ending.signal.aborted) {
      const found = await this.pods();
      const ready = found.filter(({ metadata }) => this.said.has(metadata.uid ?? '')).length;
      this.fewest = Math.min(this.fewest, ready);
      for (const pod of found) await this.say(pod);
      await sleep(100, undefined, { signal: this.ending.signal }).catch(() => undefined);
    }
  }

  private async say(pod: KubernetesObject): Promise<void> {
    const { name, uid = '' } = pod.metadata;
    if (this.said.has(uid)) return;
    const now = new Date().toISOString().replace(/\.\d+/, '');
    const outcome = this.outcome(pod);
    const status = { phase: outcome === 'ready' ? 'Running' : 'Pending', ...statuses[outcome](now) };
    await this.bench.setStatus({ ...pods, namespace: this.namespace, name }, status).catch(undefinedIfNotFound);
    if (outcome === 'ready') this.said.add(uid);
  }
}
