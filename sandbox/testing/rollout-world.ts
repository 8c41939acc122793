import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { workloads } from '../../runtime/contract.ts';
import { describeError } from '../../runtime/wording/errors.ts';
import { listAll } from '../../runtime/kubernetes/http/client.ts';
import { isNotFound, undefinedIfNotFound } from '../../runtime/kubernetes/http/errors.ts';
import type { Workload } from '../../runtime/injection/types.ts';
import { eventually } from './eventually.ts';
import type { OperatorBench } from './operator.ts';
import { PodsByHand, type Outcome } from './pods-by-hand.ts';
import { frozen, isHalted, podsAfter, RolloutJudge, seenOf, type Known, type Seen } from './rollout-judge.ts';

const [deployment] = workloads;
const budgets = { group: 'policy', version: 'v1', plural: 'poddisruptionbudgets' } as const;
const POLL_MS = 100;

/**
 * A namespace in which somebody works, and a twin without a Lumigo in which the same is done: what a workload is without an
 * injection shows there, to the byte. What a Deployment's controller does of itself is done beside, and each state is judged.
 */
export class RolloutWorld {
  readonly known = new Map<string, Known>();
  readonly judge = new RolloutJudge(this.known);
  private readonly hand: PodsByHand;
  private ended = false;
  private controller: Promise<void> = Promise.resolve();
  isManaged = true;
  hasLumigo = true;

  private constructor(
    private readonly operator: OperatorBench,
    readonly namespace: string,
    private readonly twin: string,
  ) {
    this.hand = new PodsByHand(operator.bench, namespace);
  }

  /** With workloads of these names that run, and an active Lumigo. */
  static async make(operator: OperatorBench, names: readonly string[]): Promise<RolloutWorld> {
    const { bench } = operator;
    const world = new RolloutWorld(operator, await bench.namespace('model'), await bench.namespace('twin'));
    for (const name of names) await world.create(name);
    world.controller = world.follow();
    await bench.activate(world.namespace);
    return world;
  }

  async create(name: string): Promise<void> {
    await new PodsByHand(this.operator.bench, this.twin).deployment(name);
    const templates = [await this.twinOf(name)];
    this.known.set(name, { templates, releasedAt: Date.now(), blockedSince: undefined, pods: undefined });
    await this.hand.deployment(name);
  }

  async delete(name: string): Promise<void> {
    this.known.delete(name);
    const { client } = this.operator.bench;
    for (const namespace of [this.namespace, this.twin]) await client.delete({ ...deployment, namespace, name });
    await this.hand.end(name);
  }

  /** What a user changes, here and in the twin. */
  async edit(name: string, body: object, more: Partial<Known> = {}): Promise<void> {
    const { bench } = this.operator;
    const before = this.of(name);
    await bench.merge(deployment, this.twin, name, body);
    const after = await this.twinOf(name);
    this.known.set(name, { ...before, ...more, templates: [...before.templates.slice(-1), after] });
    await bench.merge(deployment, this.namespace, name, body);
    if ('blockedSince' in more) await this.settle(name);
  }

  /** It fails, or is well again, without anybody's doing. */
  async ail(name: string, fails: boolean): Promise<void> {
    this.known.set(name, { ...this.of(name), blockedSince: fails ? Date.now() : undefined });
    const seen = (await this.read()).find((each) => each.name === name);
    if (seen?.isInjected === false) await this.settle(name);
  }

  /** The kubelet has got to the pods of what is injected, and this becomes of those that were not made yet. */
  async pods(outcome: Outcome, which: (name: string) => boolean = () => true): Promise<void> {
    const ready = outcome === 'ready';
    const injected = (await this.read()).filter((each) => each.isInjected && which(each.name));
    for (const { name, stamp } of injected) {
      const known = this.known.get(name);
      if (stamp === undefined || known === undefined) continue;
      if (known.pods?.of === stamp.at && known.pods.ready === ready) continue;
      this.known.set(name, { ...known, pods: podsAfter(known.pods, stamp.at, ready) });
      if (ready) this.judge.proven.add(name);
      // What was put back or deleted meanwhile has no such pods.
      await this.become(name, outcome).catch(undefinedIfNotFound);
    }
  }

  private async become(name: string, outcome: Outcome): Promise<void> {
    await this.hand.end(name);
    await this.hand.start(name, outcome);
    if (outcome === 'ready') await this.settle(name);
  }

  async budget(maxUnavailable: number): Promise<void> {
    const { namespace } = this;
    const body = {
      ...{ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { namespace, name: 'all' } },
      spec: { maxUnavailable, selector: {} },
    };
    const ref = { ...budgets, namespace, name: 'all' };
    await this.operator.bench.client.patch(ref, { kind: 'apply', body, force: true }, { fieldManager: 'test' });
  }

  async kill(): Promise<void> {
    await this.operator.killManager();
    this.isManaged = false;
  }

  async start(): Promise<void> {
    await this.operator.startManager();
    this.isManaged = true;
  }

  async deleteLumigo(): Promise<void> {
    await this.operator.bench.deleteLumigo(this.namespace);
    this.hasLumigo = false;
    await eventually(async () => this.isClean());
    this.judge.proven.clear();
  }

  async makeLumigo(): Promise<void> {
    await this.operator.bench.activate(this.namespace);
    this.hasLumigo = true;
  }

  /** Nobody does anything any more, and what is injected runs: then each workload is injected, frozen, or in a halted namespace. */
  async rest(): Promise<void> {
    if (!this.isManaged) await this.start();
    if (!this.hasLumigo) await this.makeLumigo();
    for (const [name, { blockedSince }] of this.known)
      if (blockedSince !== undefined) await this.edit(name, { spec: { paused: false } }, { blockedSince: undefined });
    await eventually(
      async () => {
        await this.pods('ready');
        const all = await this.read();
        const stopped = frozen(all, this.known);
        const waiting = all.filter((each) => !each.isInjected && !stopped.includes(each));
        expect(isHalted(stopped) ? [] : waiting.map(({ name }) => name)).toEqual([]);
      },
      { timeoutMs: 40_000, intervalMs: 300 },
    );
  }

  /** Ends the world: nothing of the operator is left in it. */
  async end(): Promise<void> {
    try {
      if (!this.isManaged) await this.start();
      if (this.hasLumigo) await this.deleteLumigo();
    } finally {
      this.ended = true;
      await this.controller;
    }
  }

  private async isClean(): Promise<void> {
    const { bench } = this.operator;
    for (const { name, workload } of await this.read()) {
      const twin = await bench.get(deployment, this.twin, name);
      const { labels, annotations } = twin.metadata;
      expect(workload['spec']).toEqual(twin['spec']);
      expect(workload.metadata).toMatchObject({ ...(labels && { labels }), ...(annotations && { annotations }) });
      expect(JSON.stringify(workload.metadata.annotations ?? {})).not.toContain('operator.lumigo.io');
    }
  }

  private of(name: string): Known {
    const known = this.known.get(name);
    if (known === undefined) throw new Error(`there is no ${name}`);
    return known;
  }

  private twinOf = async (name: string): Promise<string> =>
    JSON.stringify(await this.operator.bench.templateOf(deployment, this.twin, name));

  private settle(name: string): Promise<void> {
    const fails = this.known.get(name)?.blockedSince !== undefined;
    return this.hand.settle(name, fails ? 1 : undefined);
  }

  private async read(): Promise<readonly Seen[]> {
    const found = await listAll(this.operator.bench.client, { ...deployment, namespace: this.namespace });
    return found.map((item) => seenOf(item as Workload));
  }

  /** Judges what there is, and has Deployments without an injection go back to their old pods, until the end. */
  private async follow(): Promise<void> {
    for (; !this.ended; await sleep(POLL_MS)) {
      const all = await this.read();
      this.judge.observe(all);
      for (const { name, isInjected, workload } of all) {
        const { observedGeneration } = (workload['status'] ?? {}) as { observedGeneration?: number };
        if (isInjected || observedGeneration === workload.metadata.generation) continue;
        await this.hand
          .end(name)
          .then(() => this.settle(name))
          .catch((error: unknown) => isNotFound(error) || this.judge.violations.push(describeError(error)));
      }
    }
  }
}
