import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { workloadKinds, type WorkloadKind } from '../../runtime/contract.ts';
import { revertOf, type Revert } from '../../runtime/injection/revert.ts';
import { undefinedIfNotFound } from '../../runtime/kubernetes/http/errors.ts';
import type { Workload } from '../../runtime/api/objects.ts';
import type { Condition, LumigoStatus } from '../../runtime/api/lumigo.ts';
import type { TestCluster } from './test-cluster.ts';
import { eventually } from './eventually.ts';
import { KubeletByHand, type HandledPod } from './kubelet-by-hand.ts';
import type { OperatorBench } from './operator.ts';
import type { Outcome } from './pod-outcomes.ts';
import { createRunning, whenComplete, type RunningOptions } from './workloads.ts';

const { deployment } = workloadKinds;
const WAIT = { timeoutMs: 60_000 };

/** A namespace with running workloads. Their controllers are real. The test sets the outcome of pods with the injection. Default: not ready. */
export class RolloutStage {
  readonly bench: TestCluster;
  readonly kubelet: KubeletByHand;
  private readonly outcomes = new Map<string, Outcome>();
  private readonly failing = new Set<string>();
  private readonly kinds = new Map<string, WorkloadKind>();

  private constructor(
    operator: OperatorBench,
    readonly namespace: string,
  ) {
    this.bench = operator.bench;
    this.kubelet = new KubeletByHand(this.bench, namespace, (pod) => this.outcome(pod));
  }

  static async make(
    operator: OperatorBench,
    prefix: string,
    running: Readonly<Record<string, RunningOptions>>,
  ): Promise<RolloutStage> {
    const stage = new RolloutStage(operator, await operator.bench.namespace(prefix));
    for (const [name, options] of Object.entries(running)) await stage.create(name, options);
    for (const [name, kind] of stage.kinds) await whenComplete(stage.bench, kind, stage.namespace, name);
    return stage;
  }

  async create(name: string, options: RunningOptions = {}): Promise<void> {
    this.kinds.set(name, options.kind ?? deployment);
    await createRunning(this.bench, this.namespace, name, options);
  }

  activate = (): Promise<void> => this.bench.activate(this.namespace);

  become(outcome: Outcome, ...names: readonly string[]): void {
    for (const name of names) this.outcomes.set(name, outcome);
  }

  fail(name: string, fails: boolean): void {
    if (fails) this.failing.add(name);
    else this.failing.delete(name);
  }

  read = (name: string): Promise<Workload> => this.bench.get(this.kindOf(name), this.namespace, name);

  async merge(name: string, body: object): Promise<void> {
    await this.bench.merge(this.kindOf(name), this.namespace, name, body);
  }

  revertOf = async (name: string): Promise<Revert | undefined> => revertOf((await this.read(name)).metadata);

  async instrumented(): Promise<string[]> {
    const found = [];
    for (const [name, kind] of this.kinds)
      if (await this.bench.isInstrumented(kind, this.namespace, name)) found.push(name);
    return found.sort();
  }

  whenInstrumented = (...expected: readonly string[]): Promise<void> =>
    eventually(async () => expect(await this.instrumented()).toEqual(expected), WAIT);

  whenReverted = (name: string, cause: string): Promise<void> =>
    eventually(async () => expect(await this.revertOf(name)).toMatchObject({ cause }), WAIT);

  async stays(...expected: readonly string[]): Promise<void> {
    for (const end = Date.now() + 3_000; Date.now() < end; await sleep(200))
      expect(await this.instrumented()).toEqual(expected);
  }

  status = async (): Promise<LumigoStatus | undefined> => (await this.bench.readLumigo(this.namespace)).status;

  rolledOut = (): Promise<Condition | undefined> => this.bench.condition(this.namespace, 'RolledOut');

  whenSaid = (expected: Partial<Condition>): Promise<void> =>
    eventually(async () => expect(await this.rolledOut()).toMatchObject(expected), WAIT);

  reasons = async (name: string): Promise<string[]> =>
    (await this.bench.events(this.namespace, name)).map(({ reason }) => reason).sort();

  private kindOf = (name: string): WorkloadKind => this.kinds.get(name) ?? deployment;

  private outcome({ app, injector }: HandledPod): Outcome {
    if (this.failing.has(app)) return 'unready';
    return injector === undefined ? 'ready' : (this.outcomes.get(app) ?? 'unready');
  }
}

/** The stages of a test. A revert in one counts in the cluster until the stage ends. */
export class RolloutStages {
  private made: RolloutStage[] = [];

  async make(...args: Parameters<typeof RolloutStage.make>): Promise<RolloutStage> {
    const stage = await RolloutStage.make(...args);
    this.made.push(stage);
    return stage;
  }

  async end(): Promise<void> {
    const made = this.made;
    this.made = [];
    for (const { bench, namespace, kubelet } of made) {
      await bench.deleteLumigo(namespace).catch(undefinedIfNotFound);
      await kubelet.stop();
    }
  }
}
