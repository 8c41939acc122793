import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { labels, nodeCollectorFiles, suffixes, telemetryProxyFiles, workloadKinds } from '../contract.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { getToken } from '../../sandbox/testing/telemetry.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';

let operator: OperatorBench;
beforeAll(async () => {
  const settings = { clusterCollection: { logs: { enabled: true } } };
  operator = await startOperator({ controllerManager: false, settings });
  await operator.startAnother();
});
afterAll(() => operator?.stop());

/** The namespaces of all senders share the pace of reading. */
const SENDERS = 20;

const readBy = (file: string): readonly string[] =>
  ['manager-0', 'manager-1'].map((replica) => {
    const path = join(operator.cluster.dir, replica, 'telemetry-proxy', file);
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  });

it('a replaced key of nodes is accepted by each replica within 15 s, also with many other namespaces', async () => {
  const { testCluster, cluster, installation } = operator;
  for (let index = 0; index < SENDERS; index += 1) {
    const namespace = await testCluster.namespace('opted-in');
    const own = { [labels.autoTrace]: 'true', [labels.tokenSecret]: `own-${index}` };
    await testCluster.secret(namespace, getToken(100 + index), `own-${index}`);
    await testCluster.create(createWorkload(workloadKinds.deployment, namespace, `app-${index}`, { labels: own }));
  }
  await eventually(
    () => {
      for (const tokens of readBy(telemetryProxyFiles.tokens)) expect(tokens.split('\n')).toHaveLength(SENDERS);
      expect(readBy(telemetryProxyFiles.nodeKeys)).not.toContain('');
    },
    { timeoutMs: 60_000 },
  );
  const { namespace: own, name } = installation.settings;
  // The first turns follow the order of the first reads.
  for (const key of [getToken(7), getToken(8)]) {
    await cluster.client.patch(
      { ...kinds.secrets, namespace: own, name: `${name}${suffixes.nodeCollector}` },
      { kind: 'merge', body: { stringData: { [nodeCollectorFiles.key]: key } } },
    );
    await eventually(
      () => {
        for (const keys of readBy(telemetryProxyFiles.nodeKeys)) expect(keys.split('\n')).toContain(key);
      },
      { timeoutMs: 15_000 },
    );
  }
});
