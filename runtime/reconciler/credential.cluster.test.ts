import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { labels, workloadKinds } from '../contract.ts';
import { eventually, nextSecond } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { validToken } from '../../sandbox/testing/test-cluster.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';

let operator: OperatorBench;
beforeAll(async () => {
  operator = await startOperator({ controllerManager: false });
});
afterAll(() => operator?.stop());

const { deployment } = workloadKinds;

const waitForReason = (namespace: string, type: string, reason: string, name = 'lumigo') =>
  eventually(async () => {
    const { status } = await operator.testCluster.readLumigo(namespace, name);
    expect(status?.conditions?.find((condition) => condition.type === type)).toMatchObject({ reason });
  });

describe('the Secret of a Lumigo', () => {
  it('has a reason for each problem, and prevents injections until it is valid', async () => {
    const { testCluster } = operator;
    const namespace = await testCluster.namespace('secrets');
    await testCluster.create(createWorkload(deployment, namespace, 'app'));
    await testCluster.lumigo(namespace);
    await waitForReason(namespace, 'Error', 'SecretNotFound');
    await testCluster.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: 'lumigo-credentials' },
      stringData: { other: 'x' },
    });
    await waitForReason(namespace, 'Error', 'SecretKeyNotFound');
    await testCluster.secret(namespace, `${validToken}\n`);
    await waitForReason(namespace, 'Error', 'TokenMalformed');
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(false);
    await testCluster.create(createWorkload(deployment, namespace, 'while-inactive'));
    expect(await testCluster.isInstrumented(deployment, namespace, 'while-inactive')).toBe(false);
    await testCluster.secret(namespace);
    await waitForReason(namespace, 'Active', 'Ready');
    await testCluster.waitForInstrumented(deployment, namespace, 'app');
    await testCluster.waitForInstrumented(deployment, namespace, 'while-inactive');
    const status = JSON.stringify((await testCluster.readLumigo(namespace)).status);
    expect(status).not.toContain(validToken);
  });

  it('does not affect workloads when its value changes', async () => {
    const { testCluster } = operator;
    const namespace = await testCluster.instrumented('rotated');
    const before = await testCluster.toTemplate(deployment, namespace, 'app');
    await testCluster.secret(namespace, `t_${'f'.repeat(21)}`);
    await testCluster.changeLumigo(namespace, { metadata: { labels: { touched: 'yes' } } });
    await eventually(async () =>
      expect((await testCluster.readLumigo(namespace)).metadata.labels).toMatchObject({ touched: 'yes' }),
    );
    expect(await testCluster.toTemplate(deployment, namespace, 'app')).toEqual(before);
  });
});

describe('two Lumigo resources', () => {
  it('the older is in effect, the younger says why not, and deleting it has no effect [D15, D16]', async () => {
    const { testCluster, withoutWebhook } = operator;
    const namespace = await testCluster.instrumented('two');
    await nextSecond();
    await withoutWebhook(() => testCluster.lumigo(namespace, {}, 'younger'));
    await waitForReason(namespace, 'Error', 'DuplicateLumigo', 'younger');
    await waitForReason(namespace, 'Active', 'Ready');
    const before = await testCluster.get(deployment, namespace, 'app');
    await testCluster.deleteLumigo(namespace, 'younger');
    await waitForReason(namespace, 'Active', 'Ready');
    const { generation, labels } = (await testCluster.get(deployment, namespace, 'app')).metadata;
    expect({ generation, labels }).toEqual({ generation: before.metadata.generation, labels: before.metadata.labels });
  });

  it('the younger takes over after the deletion of the older, without a second change', async () => {
    const { testCluster, withoutWebhook } = operator;
    const namespace = await testCluster.instrumented('heir');
    const before = await testCluster.toTemplate(deployment, namespace, 'app');
    await nextSecond();
    await withoutWebhook(() => testCluster.lumigo(namespace, {}, 'younger'));
    await waitForReason(namespace, 'Error', 'DuplicateLumigo', 'younger');
    await testCluster.deleteLumigo(namespace);
    await testCluster.waitForActive(namespace, 'younger');
    expect(await testCluster.toTemplate(deployment, namespace, 'app')).toEqual(before);
  });
});

describe('an excluded namespace', () => {
  it('has a Lumigo that reports that nothing happens there', async () => {
    const { testCluster } = operator;
    await testCluster.secret('kube-public');
    await testCluster.lumigo('kube-public');
    await waitForReason('kube-public', 'Error', 'NamespaceExcluded');
    await testCluster.deleteLumigo('kube-public');
  });
});

describe('a workload that the API server refuses to change', () => {
  it('causes one event and retries, and delays no neighbour and no deletion forever [D11]', async () => {
    const { testCluster, refuseChanges } = operator;
    const namespace = await testCluster.namespace('refused');
    await testCluster.create(createWorkload(deployment, namespace, 'stubborn', { labels: { stubborn: 'yes' } }));
    await testCluster.create(createWorkload(deployment, namespace, 'willing'));
    const relent = await refuseChanges(namespace, { stubborn: 'yes' });
    await testCluster.activate(namespace);
    await testCluster.waitForInstrumented(deployment, namespace, 'willing');
    await eventually(async () =>
      expect((await testCluster.events(namespace, 'stubborn')).map(({ reason }) => reason)).toEqual([
        'LumigoCannotAddInstrumentation',
      ]),
    );
    await relent();
    await testCluster.waitForInstrumented(deployment, namespace, 'stubborn');
    const again = await refuseChanges(namespace, { stubborn: 'yes' });
    await testCluster.deleteLumigo(namespace);
    expect(await testCluster.isInstrumented(deployment, namespace, 'willing')).toBe(false);
    expect(await testCluster.label(deployment, namespace, 'stubborn')).toMatch(/^lumigo-operator/);
    expect((await testCluster.events(namespace, 'stubborn')).map(({ reason }) => reason)).toContain(
      'LumigoCannotRemoveInstrumentation',
    );
    await again();
    await testCluster.merge(deployment, namespace, 'stubborn', {
      metadata: { labels: { [labels.autoTrace]: 'false' } },
    });
  });
});
