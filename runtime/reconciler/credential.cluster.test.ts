import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { labels, workloadKinds } from '../contract.ts';
import { eventually, nextSecond } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { validToken } from '../../sandbox/testing/test-cluster.ts';
import { workloadOf } from '../../sandbox/testing/workloads.ts';

let operator: OperatorBench;
beforeAll(async () => {
  operator = await startOperator({ controllerManager: false });
});
afterAll(() => operator?.stop());

const { deployment } = workloadKinds;

const whenReason = (namespace: string, type: string, reason: string, name = 'lumigo') =>
  eventually(async () => {
    const { status } = await operator.bench.readLumigo(namespace, name);
    expect(status?.conditions?.find((condition) => condition.type === type)).toMatchObject({ reason });
  });

describe('the Secret of a Lumigo', () => {
  it('has a reason for each problem, and prevents injections until it is valid', async () => {
    const { bench } = operator;
    const namespace = await bench.namespace('secrets');
    await bench.create(workloadOf(deployment, namespace, 'app'));
    await bench.lumigo(namespace);
    await whenReason(namespace, 'Error', 'SecretNotFound');
    await bench.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: 'lumigo-credentials' },
      stringData: { other: 'x' },
    });
    await whenReason(namespace, 'Error', 'SecretKeyNotFound');
    await bench.secret(namespace, `${validToken}\n`);
    await whenReason(namespace, 'Error', 'TokenMalformed');
    expect(await bench.isInstrumented(deployment, namespace, 'app')).toBe(false);
    await bench.create(workloadOf(deployment, namespace, 'while-inactive'));
    expect(await bench.isInstrumented(deployment, namespace, 'while-inactive')).toBe(false);
    await bench.secret(namespace);
    await whenReason(namespace, 'Active', 'Ready');
    await bench.whenInstrumented(deployment, namespace, 'app');
    await bench.whenInstrumented(deployment, namespace, 'while-inactive');
    const status = JSON.stringify((await bench.readLumigo(namespace)).status);
    expect(status).not.toContain(validToken);
  });

  it('does not affect workloads when its value changes', async () => {
    const { bench } = operator;
    const namespace = await bench.namespace('rotated');
    await bench.activate(namespace);
    await bench.create(workloadOf(deployment, namespace, 'app'));
    const before = await bench.templateOf(deployment, namespace, 'app');
    await bench.secret(namespace, `t_${'f'.repeat(21)}`);
    await bench.changeLumigo(namespace, { metadata: { labels: { touched: 'yes' } } });
    await eventually(async () =>
      expect((await bench.readLumigo(namespace)).metadata.labels).toMatchObject({ touched: 'yes' }),
    );
    expect(await bench.templateOf(deployment, namespace, 'app')).toEqual(before);
  });
});

describe('two Lumigo resources', () => {
  it('the older is in effect, the younger says why not, and deleting it has no effect [D15, D16]', async () => {
    const { bench, withoutWebhook } = operator;
    const namespace = await bench.namespace('two');
    await bench.activate(namespace);
    await bench.create(workloadOf(deployment, namespace, 'app'));
    await nextSecond();
    await withoutWebhook(() => bench.lumigo(namespace, {}, 'younger'));
    await whenReason(namespace, 'Error', 'DuplicateLumigo', 'younger');
    await whenReason(namespace, 'Active', 'Ready');
    const before = await bench.get(deployment, namespace, 'app');
    await bench.deleteLumigo(namespace, 'younger');
    await whenReason(namespace, 'Active', 'Ready');
    expect((await bench.get(deployment, namespace, 'app')).metadata.resourceVersion).toBe(
      before.metadata.resourceVersion,
    );
  });

  it('the younger takes over after the deletion of the older, without a second change', async () => {
    const { bench, withoutWebhook } = operator;
    const namespace = await bench.namespace('heir');
    await bench.activate(namespace);
    await bench.create(workloadOf(deployment, namespace, 'app'));
    const before = await bench.templateOf(deployment, namespace, 'app');
    await nextSecond();
    await withoutWebhook(() => bench.lumigo(namespace, {}, 'younger'));
    await whenReason(namespace, 'Error', 'DuplicateLumigo', 'younger');
    await bench.deleteLumigo(namespace);
    await bench.whenActive(namespace, 'younger');
    expect(await bench.templateOf(deployment, namespace, 'app')).toEqual(before);
  });
});

describe('an excluded namespace', () => {
  it('has a Lumigo that reports that nothing happens there', async () => {
    const { bench } = operator;
    await bench.secret('kube-public');
    await bench.lumigo('kube-public');
    await whenReason('kube-public', 'Error', 'NamespaceExcluded');
    await bench.deleteLumigo('kube-public');
  });
});

describe('a workload that the API server refuses to change', () => {
  it('causes one event and retries, and delays no neighbour and no deletion forever [D11]', async () => {
    const { bench, refuseChanges } = operator;
    const namespace = await bench.namespace('refused');
    await bench.create(workloadOf(deployment, namespace, 'stubborn', { labels: { stubborn: 'yes' } }));
    await bench.create(workloadOf(deployment, namespace, 'willing'));
    const relent = await refuseChanges(namespace, { stubborn: 'yes' });
    await bench.activate(namespace);
    await bench.whenInstrumented(deployment, namespace, 'willing');
    await eventually(async () =>
      expect((await bench.events(namespace, 'stubborn')).map(({ reason }) => reason)).toEqual([
        'LumigoCannotAddInstrumentation',
      ]),
    );
    await relent();
    await bench.whenInstrumented(deployment, namespace, 'stubborn');
    const again = await refuseChanges(namespace, { stubborn: 'yes' });
    await bench.deleteLumigo(namespace);
    expect(await bench.isInstrumented(deployment, namespace, 'willing')).toBe(false);
    expect(await bench.label(deployment, namespace, 'stubborn')).toMatch(/^lumigo-operator/);
    expect((await bench.events(namespace, 'stubborn')).map(({ reason }) => reason)).toContain(
      'LumigoCannotRemoveInstrumentation',
    );
    await again();
    await bench.merge(deployment, namespace, 'stubborn', { metadata: { labels: { [labels.autoTrace]: 'false' } } });
  });
});
