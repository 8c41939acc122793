import { expect } from '@jest/globals';
import { documentOf } from '../../infra/constructs/configuration.ts';
import { variables } from '../../runtime/config/document.ts';
import { managerSelector, pods, workloadKinds, type WorkloadKind } from '../../runtime/contract.ts';
import { revertOf, type Revert } from '../../runtime/injection/revert.ts';
import type { Workload } from '../../runtime/api/objects.ts';
import type { Condition } from '../../runtime/api/lumigo.ts';
import { templateOf } from '../../runtime/injection/workload.ts';
import type { Manifest } from '../../runtime/kubernetes/resources/objects.ts';
import { apply } from '../manager/apply.ts';
import { configOf } from '../manager/configuration.ts';
import { podsOf, whenOperatorReady } from '../node/operator.ts';
import { eventually } from '../testing/eventually.ts';
import type { NodeTest } from './node-test.ts';

const { deployment: deployments } = workloadKinds;
type Kind = WorkloadKind;
const manager = {
  ...{ apiVersion: 'apps/v1', kind: 'Deployment' },
  metadata: { namespace: 'lumigo-system', name: 'lumigo-lumigo-operator-controller-manager' },
};

export class RolloutView {
  constructor(private readonly bench: NodeTest) {}

  read = (namespace: string, name: string, kind: Kind = deployments): Promise<Workload> =>
    this.bench.get(kind, namespace, name);

  isInjected = (namespace: string, name: string, kind: Kind = deployments): Promise<boolean> =>
    this.bench.isInstrumented(kind, namespace, name);

  whenInjected = (namespace: string, name: string, timeoutMs = 30_000): Promise<void> =>
    eventually(async () => expect(await this.isInjected(namespace, name)).toBe(true), { timeoutMs });

  condition = (namespace: string): Promise<Condition | undefined> => this.bench.condition(namespace, 'RolledOut');

  whenReason = (namespace: string, reason: string | RegExp, timeoutMs = 120_000): Promise<void> =>
    eventually(async () => expect((await this.condition(namespace))?.reason).toMatch(reason), { timeoutMs });

  whenSaid = (namespace: string, ...texts: readonly string[]): Promise<void> =>
    eventually(
      async () => {
        const message = (await this.condition(namespace))?.message;
        for (const text of texts) expect(message).toContain(text);
      },
      { timeoutMs: 120_000 },
    );

  whenVerified = (namespace: string, name: string): Promise<void> =>
    eventually(
      async () => {
        const listed = (await this.bench.readLumigo(namespace)).status?.instrumentedResources ?? [];
        expect(listed).toContainEqual(expect.objectContaining({ name, state: 'Verified' }));
      },
      { timeoutMs: 120_000 },
    );

  whenWithoutInjection = (namespace: string, name: string): Promise<void> =>
    eventually(
      async () => {
        if (await this.isInjected(namespace, name))
          throw new Error(`${name} still has the injection: ${(await this.condition(namespace))?.message}`);
      },
      { timeoutMs: 180_000 },
    );

  whenReverted = (namespace: string, name: string, cause: RegExp, kind?: Kind): Promise<Revert> =>
    eventually(
      async () => {
        const revert = revertOf((await this.read(namespace, name, kind)).metadata);
        if (revert === undefined)
          throw new Error(`${name} is not reverted: ${(await this.condition(namespace))?.message}`);
        expect(revert.cause).toMatch(cause);
        return revert;
      },
      { timeoutMs: 180_000 },
    );

  /** Waits for the revert. Then each pod must run without the injection within 30 s. */
  async isBack(namespace: string, name: string, cause: RegExp, kind?: Kind): Promise<string> {
    const { at } = await this.whenReverted(namespace, name, cause, kind);
    await this.bench.whenRunning(namespace, name, { instrumented: false, replicas: 2, timeoutMs: 60_000 });
    const seconds = (Date.now() - Date.parse(at)) / 1_000;
    expect(seconds).toBeLessThan(30);
    return `back after ${seconds.toFixed(1)} s`;
  }

  change = (namespace: string, name: string, spec: object) => this.bench.merge(deployments, namespace, name, { spec });

  async killOperator(): Promise<void> {
    for (const { metadata } of await this.operatorPods())
      await this.bench.client.delete({ ...pods, namespace: 'lumigo-system', name: metadata.name });
    await whenOperatorReady(this.bench.system.node);
  }

  async upgradeOperator(version: string): Promise<void> {
    const { namespace, name } = manager.metadata;
    const found = templateOf(await this.read(namespace, name))?.spec.containers.find(({ name }) => name === 'manager');
    const config = documentOf({ ...configOf(found ?? {}), version });
    const containers = [{ name: 'manager', env: [{ name: variables.config, value: config }] }];
    const before = (await this.operatorPods()).map(({ metadata }) => metadata.uid);
    await apply(this.bench.client, { ...manager, spec: { template: { spec: { containers } } } } as Manifest, 'upgrade');
    await eventually(
      async () => {
        for (const { metadata } of await this.operatorPods()) expect(before).not.toContain(metadata.uid);
      },
      { timeoutMs: 120_000 },
    );
    await whenOperatorReady(this.bench.system.node);
  }

  private operatorPods = () => podsOf(this.bench.system.node, 'lumigo-system', managerSelector);
}

export const secondsSince = (started: number): string => ((Date.now() - started) / 1_000).toFixed(1);
