import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apply } from '../../sandbox/manager/apply.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { workloadOf } from '../../sandbox/testing/workloads.ts';
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
    const { bench } = operator;
    const namespace = await bench.namespace('gitops');
    await bench.activate(namespace);
    const shop = (...containers: readonly object[]) =>
      workloadOf(deployment, namespace, 'shop', { pod: { containers } });
    const containers = async () => (await bench.templateOf(deployment, namespace, 'shop')).spec.containers;
    await first(shop(container('app', '/own.so'), container('sidecar')));
    await bench.whenInstrumented(deployment, namespace, 'shop');
    await applied(shop(container('app'), container('sidecar')));
    expect((await containers()).map(({ env }) => env?.find(({ name }) => name === 'LD_PRELOAD')?.value)).toEqual([
      injector.preload,
      injector.preload,
    ]);
    await applied(shop(container('renamed')));
    expect((await containers()).map(({ name }) => name)).toEqual(['renamed']);
  });

  it('can end an opt-in by the label', async () => {
    const { bench } = operator;
    const namespace = await bench.namespace('lone');
    await bench.secret(namespace);
    const own = (value: string) =>
      workloadOf(deployment, namespace, 'lone', {
        labels: { [labels.autoTrace]: value },
        pod: { containers: [container('app')] },
      });
    await first(own('true'));
    await bench.whenInstrumented(deployment, namespace, 'lone');
    await applied(own('false'));
    await eventually(async () => expect(await bench.label(deployment, namespace, 'lone')).toBe('false'));
    await bench.whenInstrumented(deployment, namespace, 'lone', false);
  });
});

describe('an opt-in that a tool no longer names', () => {
  it('ends if the tool has set the label last, and stays if the reconciler has', async () => {
    const { bench } = operator;
    const namespace = await bench.namespace('lone');
    await bench.secret(namespace);
    const own = (name: string, value?: string) =>
      workloadOf(deployment, namespace, name, {
        labels: value === undefined ? {} : { [labels.autoTrace]: value },
        pod: { containers: [container('app')] },
      });
    await operator.withoutWebhook(async () => {
      await applied(own('kept', 'true'));
      await applied(own('set-again', 'true'));
      await bench.whenInstrumented(deployment, namespace, 'kept');
      await bench.whenInstrumented(deployment, namespace, 'set-again');
    });
    await applied(own('set-again', 'true'));
    await applied(own('set-again'));
    await applied(own('kept'));
    await bench.whenInstrumented(deployment, namespace, 'set-again', false);
    expect(await bench.isInstrumented(deployment, namespace, 'kept')).toBe(true);
  });
});
