import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { workloadKinds } from '../../runtime/contract.ts';
import { listAll } from '../../runtime/kubernetes/http/client.ts';
import type { Workload } from '../../runtime/api/objects.ts';
import { eventually } from './eventually.ts';
import { forgery } from './forgeries.ts';
import { KubeletByHand, type HandledPod } from './kubelet-by-hand.ts';
import type { OperatorBench } from './operator.ts';
import type { Outcome, Program } from './pod-outcomes.ts';
import { isHalted, RolloutJudge, getSeen, type Known, type Seen } from './rollout-judge.ts';
import { createRunning, waitForComplete } from './workloads.ts';

const { deployment } = workloadKinds;
const POLL_MS = 100;
const REVISION = 'deployment.kubernetes.io/revision';
/** The guard is off, because it would refuse the different images of the managers. */
export const worldSettings = { guard: 'None', rollout: { soakSeconds: 1, deadlineSeconds: 10 } };
const judged = { soakMs: 1_000, lookMs: 2_000, deadlineMs: 10_000 };

const well: Program = { injected: 'ready', clean: 'ready' };

export interface Version {
  readonly version: string;
  readonly image: string;
}

/** A tenant's namespace, a twin with the same changes but no `Lumigo`, and a neighbour, which must see no effect. */
export class RolloutWorld {
  readonly known = new Map<string, Known>();
  readonly judge = new RolloutJudge(this.known, judged);
  private readonly programs = new Map<string, Program>();
  private readonly missing = new Set<string>();
  private readonly kubelets: KubeletByHand[];
  private forgeries = 0;
  private version: Version;
  /** Odd while the user writes. */
  private writes = 0;
  private ended = false;
  private following: Promise<void> = Promise.resolve();
  isManaged = true;
  hasLumigo = true;
  private isNeighbourTraced = false;

  private constructor(
    private readonly operator: OperatorBench,
    private readonly first: Version,
    private readonly places: Readonly<Record<'model' | 'twin' | 'neighbour', string>>,
  ) {
    this.version = first;
    this.kubelets = [
      new KubeletByHand(operator.testCluster, places.model, (pod) => this.outcome(pod)),
      new KubeletByHand(operator.testCluster, places.neighbour),
    ];
  }

  static async make(operator: OperatorBench, version: Version, names: readonly string[]): Promise<RolloutWorld> {
    const { testCluster } = operator;
    const model = await testCluster.namespace('model');
    const twin = await testCluster.namespace('twin');
    const neighbour = await testCluster.namespace('neighbour');
    const world = new RolloutWorld(operator, version, { model, twin, neighbour });
    for (const name of names) await world.create(name);
    for (const name of ['one', 'two']) await createRunning(testCluster, neighbour, name);
    for (const name of names) await waitForComplete(testCluster, deployment, model, name);
    world.following = world.follow();
    await testCluster.activate(model);
    return world;
  }

  async create(name: string): Promise<void> {
    await createRunning(this.operator.testCluster, this.places.twin, name);
    this.programs.set(name, well);
    const templates = [await this.createTwin(name)];
    const runs = { hasReplicas: true, pausedSince: undefined, failsSince: undefined };
    this.known.set(name, { templates, written: new Set(), releasedAt: Date.now(), ...runs });
    await this.write(name, () => createRunning(this.operator.testCluster, this.places.model, name));
  }

  async delete(name: string): Promise<void> {
    this.known.delete(name);
    const { client } = this.operator.testCluster;
    for (const namespace of [this.places.model, this.places.twin])
      await client.delete({ ...deployment, namespace, name });
  }

  /** @param more with `releasedAt`, the edit asks for another try */
  async edit(name: string, body: object, more: Partial<Known> = {}): Promise<void> {
    const { testCluster } = this.operator;
    const before = this.of(name);
    await testCluster.merge(deployment, this.places.twin, name, body);
    const after = await this.createTwin(name);
    this.known.set(name, { ...before, ...more, templates: [...before.templates.slice(-1), after] });
    await this.write(name, () => testCluster.merge(deployment, this.places.model, name, body));
  }

  async forge(name: string): Promise<void> {
    this.forgeries += 1;
    const { text, body } = forgery(this.forgeries);
    this.judge.forged.add(text);
    this.known.set(name, { ...this.of(name), releasedAt: Infinity });
    await this.write(name, () => this.operator.testCluster.merge(deployment, this.places.model, name, body));
  }

  program(name: string, program: Partial<Program>): void {
    this.programs.set(name, { ...well, ...program });
    const known = this.known.get(name);
    if (known === undefined) return;
    const fails = program.clean !== undefined && program.clean !== 'ready';
    this.known.set(name, { ...known, failsSince: fails ? Date.now() : undefined });
  }

  allPrograms(program: Partial<Program>): void {
    for (const name of this.programs.keys()) this.program(name, program);
  }

  /** Sets if nodes that do not have the injector's image get it. */
  image(isThere: boolean): void {
    if (isThere) this.missing.clear();
    else this.missing.add(this.version.image);
  }

  async kill(): Promise<void> {
    await this.operator.killManager();
    this.isManaged = false;
  }

  /** Another injector is another try for reverted workloads, but another version of the operator is not. */
  async start(version = this.version): Promise<void> {
    if (version.image !== this.version.image)
      for (const [name, known] of this.known) this.known.set(name, { ...known, releasedAt: Date.now() });
    this.version = version;
    await this.operator.startManager({ config: { version: version.version, injectorImage: version.image } });
    this.isManaged = true;
  }

  async deleteLumigo(): Promise<void> {
    await this.operator.testCluster.deleteLumigo(this.places.model);
    this.hasLumigo = false;
    await eventually(() => this.expectClean());
    this.judge.proven.clear();
  }

  async makeLumigo(): Promise<void> {
    await this.operator.testCluster.activate(this.places.model);
    this.hasLumigo = true;
  }

  async traceNeighbour(): Promise<void> {
    this.isNeighbourTraced = true;
    await this.operator.testCluster.activate(this.places.neighbour);
  }

  /** Without further changes, and with running programs, each workload is then injected, reverted, or in a halted namespace. */
  async rest(): Promise<void> {
    if (!this.isManaged) await this.start();
    if (!this.hasLumigo) await this.makeLumigo();
    if (!this.isNeighbourTraced) await this.traceNeighbour();
    this.image(true);
    this.allPrograms({});
    for (const [name, { pausedSince }] of this.known)
      if (pausedSince !== undefined) await this.edit(name, { spec: { paused: false } }, { pausedSince: undefined });
    await eventually(() => this.expectRest(), { timeoutMs: 90_000, intervalMs: 300 });
  }

  private async expectRest(): Promise<void> {
    const reverts = this.judge.frozen();
    const names = new Set(reverts.map(({ name }) => name));
    const waiting = (await this.read(this.places.model)).filter((each) => !each.isInjected && !names.has(each.name));
    const forgotten = waiting.filter(this.judge.isForgotten);
    const mayGo = isHalted(reverts) || forgotten.length > 0 ? this.judge.isRequested : () => true;
    const due = waiting.filter((each) => !forgotten.includes(each) && mayGo(each.name));
    expect(due.map(({ name }) => name)).toEqual([]);
    const others = await this.read(this.places.neighbour);
    expect(others.map(({ isInjected }) => isInjected)).toEqual([true, true]);
  }

  async end(): Promise<void> {
    const { testCluster } = this.operator;
    try {
      if (!this.isManaged) await this.start();
      if (this.hasLumigo) await this.deleteLumigo();
      if (this.isNeighbourTraced) await testCluster.deleteLumigo(this.places.neighbour);
      if (this.version !== this.first) {
        await this.kill();
        await this.start(this.first);
      }
    } finally {
      this.ended = true;
      await this.following;
      for (const kubelet of this.kubelets) await kubelet.stop();
    }
  }

  private outcome({ app, injector }: HandledPod): Outcome {
    const { injected, clean } = this.programs.get(app) ?? well;
    if (injector === undefined) return clean;
    return this.missing.has(injector) ? 'no-injector-image' : injected;
  }

  private async expectClean(): Promise<void> {
    const { testCluster } = this.operator;
    for (const { name, workload } of await this.read(this.places.model)) {
      const twin = await testCluster.get(deployment, this.places.twin, name);
      const { labels, annotations: { [REVISION]: _revision, ...annotations } = {} } = twin.metadata;
      expect(workload['spec']).toEqual(twin['spec']);
      expect(workload.metadata).toMatchObject({ labels, annotations });
      const own = JSON.stringify(workload.metadata.annotations ?? {});
      if (!own.includes('"neither"')) expect(own).not.toContain('operator.lumigo.io');
    }
  }

  private of(name: string): Known {
    const known = this.known.get(name);
    if (known === undefined) throw new Error(`the test did not make ${name}`);
    return known;
  }

  /** With `releasedAt: Infinity`, the operator may see the release at any time until the answer. */
  private async write(name: string, request: () => Promise<object>): Promise<void> {
    this.writes += 1;
    const { template } = getSeen({ ...((await request()) as Workload), ...typeOf });
    const { written, releasedAt, ...known } = this.of(name);
    const released = releasedAt === Infinity ? Date.now() : releasedAt;
    this.known.set(name, { ...known, releasedAt: released, written: new Set([...written, template]) });
    this.writes += 1;
  }

  private createTwin = async (name: string): Promise<string> =>
    JSON.stringify(await this.operator.testCluster.toTemplate(deployment, this.places.twin, name));

  private async read(namespace: string): Promise<readonly Seen[]> {
    const found = await listAll(this.operator.testCluster.client, { ...deployment, namespace });
    return found.map((item) => getSeen({ ...(item as Workload), ...typeOf }));
  }

  private async follow(): Promise<void> {
    for (; !this.ended; await sleep(POLL_MS)) {
      const { writes } = this;
      const all = await this.read(this.places.model);
      // A list that overlaps a write of the user may show it before its answer does.
      if (writes % 2 === 0 && writes === this.writes) this.judge.observe(all, this.kubelets[0]?.seen() ?? []);
      for (const { name, revert } of await this.read(this.places.neighbour))
        if (revert !== undefined) this.judge.violations.push(`neighbour: ${name} was reverted: ${revert.evidence}`);
    }
  }
}

const typeOf = { apiVersion: deployment.apiVersion, kind: deployment.kind } as const;
