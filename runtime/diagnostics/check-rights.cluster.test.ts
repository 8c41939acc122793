import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { synthesize } from '../../infra/operator.ts';
import { apply } from '../../sandbox/manager/apply.ts';
import { runInContainer } from '../../sandbox/manager/command.ts';
import { OtlpSink } from '../../sandbox/otlp-sink/sink.ts';
import { operatorRequests } from '../../sandbox/testing/audit.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { checkPermissions } from '../access/check-permissions.ts';
import { suffixes, workloadKinds } from '../contract.ts';
import type { Finding } from './finding.ts';

/** Helm creates the account of `helm test` and its roles. The manager runs beside the cluster, not in pods. */
let sink: OtlpSink;
let operator: OperatorBench;
beforeAll(async () => {
  // Without an answer about its token, a Lumigo is ready only after 30 s.
  sink = await OtlpSink.start();
  operator = await startOperator({ audit: true, controllerManager: false, config: { endpoint: sink.url } });
  const { cluster, installation } = operator;
  const hooks = synthesize(installation.settings, 'Helm').filter(
    ({ kind, metadata }) => metadata.annotations?.['helm.sh/hook'] === 'test' && kind !== 'Job',
  );
  for (const manifest of hooks) await apply(cluster.client, manifest);
});
afterAll(async () => {
  await operator?.stop();
  await sink?.close();
});

const requests = () =>
  operatorRequests(operator.cluster, operator.installation, 'check').flatMap(({ verb, objectRef, ...entry }) =>
    objectRef?.resource === undefined
      ? []
      : [{ asked: `${verb} ${objectRef.resource}`, namespace: objectRef.namespace, code: entry.responseStatus?.code }],
  );

describe('the account of `helm test`', () => {
  it('may do all that `lumigo check` needs, except list pods of other programs', async () => {
    const namespace = await operator.testCluster.namespace('shop');
    await operator.testCluster.activate(namespace);
    await operator.testCluster.waitForCondition(namespace, 'Ready', { status: 'True' });
    const { stdout } = await runInContainer(
      operator.cluster,
      operator.installation,
      ['check', '--wait', '1', '-o', 'json'],
      suffixes.check,
    );
    const findings = JSON.parse(stdout) as readonly Finding[];
    expect(Object.fromEntries(findings.map(({ check, result }) => [check, result]))).toEqual({
      ...{
        definition: 'ok',
        leader: 'ok',
        certificate: 'ok',
        webhook: 'ok',
        policies: 'ok',
        nodes: 'ok',
        lumigoes: 'ok',
      },
      ...{ manager: 'failed', images: 'unknown' },
    });
    expect(findings.find(({ check }) => check === 'manager')?.details).toContain('replicas of lumigo-system/');
    expect(new Set(requests().flatMap(({ asked, code }) => (code === 403 ? asked : [])))).toEqual(
      new Set(['list pods']),
    );
  });

  it('may do nothing that `lumigo check` does not need, and create nothing outside of one namespace', () => {
    const granted = [...checkPermissions.check, ...checkPermissions.checkProbe].flatMap(({ verbs, resources }) =>
      verbs.flatMap((verb) => resources.map((resource) => `${verb} ${resource}`)),
    );
    const used = new Set(requests().map(({ asked }) => asked));
    expect(granted.filter((each) => !used.has(each))).toEqual([]);
    const created = requests().filter(({ asked }) => asked === 'create lumigoes');
    expect(new Set(created.map(({ namespace }) => namespace))).toEqual(new Set(['default']));
  });
});

describe('lumigo check', () => {
  it('fails if the collector of a node is not available', async () => {
    const { cluster, installation, testCluster } = operator;
    const { namespace, name } = installation.settings;
    const daemonSet = createWorkload(workloadKinds.daemonSet, namespace, `${name}${suffixes.nodeCollector}`);
    await testCluster.create(daemonSet);
    const counts = { desiredNumberScheduled: 3, currentNumberScheduled: 3, numberMisscheduled: 0, numberReady: 2 };
    const ref = { ...workloadKinds.daemonSet, namespace, name: daemonSet.metadata.name };
    await testCluster.setStatus(ref, { ...counts, numberAvailable: 2 });
    const { stdout } = await runInContainer(cluster, installation, ['check', '-o', 'json'], suffixes.check);
    const findings = JSON.parse(stdout) as readonly Finding[];
    expect(findings.find(({ check }) => check === 'nodes')).toMatchObject({
      ...{ result: 'failed', details: 'The collectors of 2 of 3 nodes are available' },
    });
  });
});
