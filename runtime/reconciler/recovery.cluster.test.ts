import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apply } from '../../sandbox/manager/apply.ts';
import { eventually, nextSecond } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { everyKind, createWorkload } from '../../sandbox/testing/workloads.ts';
import { injector, labels, workloadKinds } from '../contract.ts';
import type { Manifest } from '../kubernetes/resources/objects.ts';

let operator: OperatorBench;
beforeAll(async () => {
  operator = await startOperator({ controllerManager: false });
});
afterAll(() => operator?.stop());

const { deployment } = workloadKinds;

describe('while the webhook is down', () => {
  it('workloads are created all the same, and instrumented once it is back [D12, D30]', async () => {
    const { testCluster } = operator;
    const namespace = await testCluster.namespace('away');
    await testCluster.activate(namespace);
    await operator.stopManager();
    await nextSecond();
    const mutable = everyKind.filter(([, kind]) => kind.mutable);
    for (const [, kind] of mutable) await testCluster.create(createWorkload(kind, namespace, `missed-${kind.plural}`));
    await operator.startManager();
    for (const [, kind] of mutable) await testCluster.waitForInstrumented(kind, namespace, `missed-${kind.plural}`);
    await eventually(async () =>
      expect(await operator.metric('lumigo_operator_missed_injections_total')).toBe(mutable.length),
    );
  });

  it('an opt-out takes effect once it is back', async () => {
    const { testCluster } = operator;
    const namespace = await testCluster.instrumented('caught-up');
    await operator.stopManager();
    await testCluster.merge(deployment, namespace, 'app', { metadata: { labels: { 'lumigo.auto-trace': 'false' } } });
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(true);
    await operator.startManager();
    await testCluster.waitForInstrumented(deployment, namespace, 'app', false);
  });

  it('a rollback to a template without the injection is injected again', async () => {
    const { testCluster } = operator;
    const namespace = await testCluster.namespace('rolled-back');
    await testCluster.create(createWorkload(deployment, namespace, 'app'));
    const clean = await testCluster.toTemplate(deployment, namespace, 'app');
    await testCluster.activate(namespace);
    await testCluster.waitForInstrumented(deployment, namespace, 'app');
    await operator.stopManager();
    const operations = [{ op: 'replace' as const, path: '/spec/template', value: clean }];
    await testCluster.client.patch({ ...deployment, namespace, name: 'app' }, { kind: 'json', operations });
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(false);
    await operator.startManager();
    await testCluster.waitForInstrumented(deployment, namespace, 'app');
  });
});

/** A tool's apply removes fields that it no longer names, unless another manager such as the reconciler owns them. */
const applied = (manifest: Manifest) => apply(operator.cluster.client, manifest, 'a-tool');

const container = (name: string, preload?: string) => ({
  name,
  image: 'app:1',
  env: preload === undefined ? [] : [{ name: 'LD_PRELOAD', value: preload }],
});

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
