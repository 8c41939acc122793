import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { workloadKinds, type WorkloadKind } from '../../runtime/contract.ts';
import { findRevert, type Revert } from '../../runtime/injection/revert.ts';
import { undefinedIfNotFound } from '../../runtime/kubernetes/http/errors.ts';
import type { Workload } from '../../runtime/api/objects.ts';
import type { Condition, LumigoStatus } from '../../runtime/api/lumigo.ts';
import type { TestCluster } from './test-cluster.ts';
import { eventually } from './eventually.ts';
import { KubeletByHand, type HandledPod } from './kubelet-by-hand.ts';
import type { OperatorBench } from './operator.ts';
import type { Outcome } from './pod-outcomes.ts';
import { createRunning, waitForComplete, type RunningOptions } from './workloads.ts';

const { deployment } = workloadKinds;
/** Forty workloads are six batches. */
const WAIT = { timeoutMs: 200_000 };

/** A namespace with running workloads. Their controllers are real. The test sets the outcome of pods with the injection. Default: not ready. */
export class RolloutStage {
  readonly kubelet: KubeletByHand;
  private readonly outcomes = new Map<string, Outcome>();
  private readonly failing = new Set<string>();
  private readonly kinds = new Map<string, WorkloadKind>();

  constructor(
    readonly testCluster: TestCluster,
    readonly namespace: string,
  ) {
    this.kubelet = new KubeletByHand(testCluster, namespace, (pod) => this.outcome(pod));
  }

  async create(name: string, options: RunningOptions = {}): Promise<void> {
    this.kinds.set(name, options.kind ?? deployment);
    await createRunning(this.testCluster, this.namespace, name, options);
  }

  activate = (): Promise<void> => this.testCluster.activate(this.namespace);

  become(outcome: Outcome, ...names: readonly string[]): void {
    for (const name of names) this.outcomes.set(name, outcome);
  }

  fail(name: string, fails: boolean): void {
    if (fails) this.failing.add(name);
    else this.failing.delete(name);
  }

  read = (name: string): Promise<Workload> => this.testCluster.get(this.getKind(name), this.namespace, name);

  async merge(name: string, body: object): Promise<void> {
    await this.testCluster.merge(this.getKind(name), this.namespace, name, body);
  }

  getRevert = async (name: string): Promise<Revert | undefined> => findRevert((await this.read(name)).metadata);

  async instrumented(): Promise<string[]> {
    const found = [];
    for (const [name, kind] of this.kinds)
      if (await this.testCluster.isInstrumented(kind, this.namespace, name)) found.push(name);
    return found.sort();
  }

  waitForInstrumented = (...expected: readonly string[]): Promise<void> =>
    eventually(async () => expect(await this.instrumented()).toEqual(expected), WAIT);

  waitForReverted = (name: string, cause: string): Promise<void> =>
    eventually(async () => expect(await this.getRevert(name)).toMatchObject({ cause }), WAIT);

  async stays(...expected: readonly string[]): Promise<void> {
    for (const end = Date.now() + 3_000; Date.now() < end; await sleep(200))
      expect(await this.instrumented()).toEqual(expected);
  }

  status = async (): Promise<LumigoStatus | undefined> => (await this.testCluster.readLumigo(this.namespace)).status;

  rolledOut = (): Promise<Condition | undefined> => this.testCluster.condition(this.namespace, 'RolledOut');

  waitForCondition = (expected: Partial<Condition>): Promise<void> =>
    eventually(async () => expect(await this.rolledOut()).toMatchObject(expected), WAIT);

  reasons = (name: string): Promise<string[]> => this.testCluster.reasons(this.namespace, name);

  private getKind = (name: string): WorkloadKind => this.kinds.get(name) ?? deployment;

  private outcome({ app, injector }: HandledPod): Outcome {
    if (this.failing.has(app)) return 'unready';
    return injector === undefined ? 'ready' : (this.outcomes.get(app) ?? 'unready');
  }
}

/** The stages of a test. A revert in one counts in the cluster until the stage ends. */
export class RolloutStages {
  private readonly made: RolloutStage[] = [];

  /** Creates workloads in a new namespace, and waits until their pods run. */
  async make(
    { testCluster }: OperatorBench,
    prefix: string,
    running: Readonly<Record<string, RunningOptions>>,
  ): Promise<RolloutStage> {
    const namespace = await testCluster.namespace(prefix);
    const stage = new RolloutStage(testCluster, namespace);
    this.made.push(stage);
    for (const [name, options] of Object.entries(running)) await stage.create(name, options);
    for (const [name, { kind = deployment }] of Object.entries(running))
      await waitForComplete(testCluster, kind, namespace, name);
    return stage;
  }

  async end(): Promise<void> {
    for (const { testCluster, namespace, kubelet } of this.made.splice(0)) {
      await testCluster.deleteLumigo(namespace).catch(undefinedIfNotFound);
      await kubelet.stop();
    }
  }
}
