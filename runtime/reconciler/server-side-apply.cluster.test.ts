import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apply } from '../../sandbox/manager/apply.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { injector, labels, workloadKinds } from '../contract.ts';
import type { Manifest } from '../kubernetes/resources/objects.ts';

/** A tool's apply removes fields that it no longer names, unless another manager such as the reconciler owns them. */
const { deployment } = workloadKinds;
let operator: OperatorBench;
beforeAll(async () => {
  operator = await startOperator();
});
afterAll(() => operator?.stop());

const container = (name: string, preload?: string) => ({
  name,
  image: 'app:1',
  env: preload === undefined ? [] : [{ name: 'LD_PRELOAD', value: preload }],
});

const applied = (manifest: Manifest) => apply(operator.cluster.client, manifest, 'a-tool');

describe.each(['reconciler', 'webhook'])('a tool that applies a workload instrumented by the %s', (who) => {
  /** Applies before the webhook is registered, or after. */
  const first = (manifest: Manifest) =>
    who === 'webhook' ? applied(manifest) : operator.withoutWebhook(() => applied(manifest));

  it('can remove a variable that the injection has extended, and a container', async () => {
    const { testCluster } = operator;
    const namespace = await testCluster.namespace('gitops');
    await testCluster.activate(namespace);
    const shop = (...containers: readonly object[]) =>
      createWorkload(deployment, namespace, 'shop', { pod: { containers } });
    const containers = async () => (await testCluster.toTemplate(deployment, namespace, 'shop')).spec.containers;
    await first(shop(container('app', '/own.so'), container('sidecar')));
    await testCluster.waitForInstrumented(deployment, namespace, 'shop');
    await applied(shop(container('app'), container('sidecar')));
    expect((await containers()).map(({ env }) => env?.find(({ name }) => name === 'LD_PRELOAD')?.value)).toEqual([
      injector.preload,
      injector.preload,
    ]);
    await applied(shop(container('renamed')));
    expect((await containers()).map(({ name }) => name)).toEqual(['renamed']);
  });

  it('can end an opt-in by the label', async () => {
    const { testCluster } = operator;
    const namespace = await testCluster.namespace('lone');
    await testCluster.secret(namespace);
    const own = (value: string) =>
      createWorkload(deployment, namespace, 'lone', {
        labels: { [labels.autoTrace]: value },
        pod: { containers: [container('app')] },
      });
    await first(own('true'));
    await testCluster.waitForInstrumented(deployment, namespace, 'lone');
    await applied(own('false'));
    await eventually(async () => expect(await testCluster.label(deployment, namespace, 'lone')).toBe('false'));
    await testCluster.waitForInstrumented(deployment, namespace, 'lone', false);
  });
});

describe('an opt-in that a tool no longer names', () => {
  it('ends if the tool has set the label last, and stays if the reconciler has', async () => {
    const { testCluster } = operator;
    const namespace = await testCluster.namespace('lone');
    await testCluster.secret(namespace);
    const own = (name: string, value?: string) =>
      createWorkload(deployment, namespace, name, {
        labels: value === undefined ? {} : { [labels.autoTrace]: value },
        pod: { containers: [container('app')] },
      });
    await operator.withoutWebhook(async () => {
      await applied(own('kept', 'true'));
      await applied(own('set-again', 'true'));
      await testCluster.waitForInstrumented(deployment, namespace, 'kept');
      await testCluster.waitForInstrumented(deployment, namespace, 'set-again');
    });
    await applied(own('set-again', 'true'));
    await applied(own('set-again'));
    await applied(own('kept'));
    await testCluster.waitForInstrumented(deployment, namespace, 'set-again', false);
    expect(await testCluster.isInstrumented(deployment, namespace, 'kept')).toBe(true);
  });
});
