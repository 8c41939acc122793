import { expect } from '@jest/globals';
import { toDocument } from '../../infra/constructs/configuration.ts';
import { variables } from '../../runtime/config/document.ts';
import { pods, workloadKinds, type WorkloadKind } from '../../runtime/contract.ts';
import { findRevert, type Revert } from '../../runtime/injection/revert.ts';
import type { Manifest } from '../../runtime/kubernetes/resources/objects.ts';
import { apply } from '../manager/apply.ts';
import { toConfig } from '../manager/configuration.ts';
import { isInstrumented } from '../lumigo.ts';
import { isReady, waitForOperator } from '../node/operator.ts';
import { eventually } from '../testing/eventually.ts';
import type { NodeTest } from './node-test.ts';

const { deployment: deployments } = workloadKinds;
const WAIT = { timeoutMs: 180_000 };
const manager = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: 'lumigo-system', name: 'lumigo-lumigo-operator-controller-manager' },
};

export class RolloutView {
  constructor(private readonly nodeTest: NodeTest) {}

  waitForInjected = (namespace: string, name: string): Promise<void> =>
    eventually(async () => expect(await this.nodeTest.isInstrumented(deployments, namespace, name)).toBe(true), WAIT);

  waitForCondition = (namespace: string, ...texts: readonly string[]): Promise<void> =>
    eventually(async () => {
      const message = (await this.nodeTest.condition(namespace, 'RolledOut'))?.message;
      for (const text of texts) expect(message).toContain(text);
    }, WAIT);

  waitForVerified = (namespace: string, name: string): Promise<void> =>
    eventually(async () => {
      const listed = (await this.nodeTest.readLumigo(namespace)).status?.instrumentedResources ?? [];
      expect(listed).toContainEqual(expect.objectContaining({ name, state: 'Verified' }));
    }, WAIT);

  waitForReverted = (
    namespace: string,
    name: string,
    cause: RegExp,
    kind: WorkloadKind = deployments,
  ): Promise<Revert> =>
    eventually(async () => {
      const revert = findRevert((await this.nodeTest.get(kind, namespace, name)).metadata);
      if (revert === undefined)
        throw new Error(`${name} is not reverted: ${(await this.nodeTest.condition(namespace, 'RolledOut'))?.message}`);
      expect(revert.cause).toMatch(cause);
      return revert;
    }, WAIT);

  /** Waits for the revert. Within 30 s, no pod stays with the injection. The kubelet may start the others later. */
  async isBack(namespace: string, name: string, cause: RegExp, kind?: WorkloadKind): Promise<string> {
    const { at } = await this.waitForReverted(namespace, name, cause, kind);
    const staying = async () =>
      (await this.nodeTest.pods(namespace, name))
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map((pod) => ({ isInjected: isInstrumented(pod), isReady: isReady(pod) }));
    const injected = async () => (await staying()).filter(({ isInjected }) => isInjected);
    await eventually(async () => expect(await injected()).toEqual([]), { timeoutMs: 60_000, intervalMs: 200 });
    const seconds = (Date.now() - Date.parse(at)) / 1_000;
    expect(seconds).toBeLessThan(30);
    const back = { isInjected: false, isReady: true };
    await eventually(async () => expect(await staying()).toEqual([back, back]), WAIT);
    return `back after ${seconds.toFixed(1)} s`;
  }

  async killOperator(): Promise<void> {
    for (const { metadata } of await this.nodeTest.operatorPods())
      await this.nodeTest.client.delete({ ...pods, namespace: 'lumigo-system', name: metadata.name });
    await waitForOperator(this.nodeTest.system.node);
  }

  async upgradeOperator(version: string): Promise<void> {
    const { namespace, name } = manager.metadata;
    const { spec } = await this.nodeTest.toTemplate(deployments, namespace, name);
    const found = spec.containers.find((container) => container.name === 'manager');
    const config = toDocument({ ...toConfig(found ?? {}), version });
    const containers = [{ name: 'manager', env: [{ name: variables.config, value: config }] }];
    const before = (await this.nodeTest.operatorPods()).map(({ metadata }) => metadata.uid);
    await apply(
      this.nodeTest.client,
      { ...manager, spec: { template: { spec: { containers } } } } as Manifest,
      'upgrade',
    );
    await eventually(async () => {
      for (const { metadata } of await this.nodeTest.operatorPods()) expect(before).not.toContain(metadata.uid);
    }, WAIT);
    await waitForOperator(this.nodeTest.system.node);
  }
}

export const secondsSince = (started: number): string => ((Date.now() - started) / 1_000).toFixed(1);
