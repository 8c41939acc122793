import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { startApiProxy, type ApiProxy } from '../../sandbox/faults/api-proxy.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { installedAs } from '../../sandbox/testing/protection.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { annotations, labels, workloadKinds } from '../contract.ts';
import { getLease } from '../installation/installation.ts';

let operator: OperatorBench;
let proxy: ApiProxy;
beforeAll(async () => {
  operator = await startOperator({
    controllerManager: false,
    through: async (cluster) => (proxy = await startApiProxy(cluster)),
  });
});
afterEach(() => {
  proxy.interfere = undefined;
});
afterAll(async () => {
  await operator?.stop();
});

const { deployment } = workloadKinds;
const lease = () => getLease(installedAs(operator.installation));
const inMinutes = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString();
const terms = (): number => readFileSync(operator.manager().logFile, 'utf8').split('reconciler ready').length;

const waitForReasons = (namespace: string, name: string, ...expected: readonly string[]): Promise<void> =>
  eventually(async () => expect(await operator.testCluster.reasons(namespace, name)).toEqual(expected));

describe('the events of a term', () => {
  it('are not repeated in the next one, if the Lease was deleted', async () => {
    const { testCluster, cluster } = operator;
    const namespace = await testCluster.instrumented('earlier');
    await waitForReasons(namespace, 'app', 'LumigoAddedInstrumentation');
    await operator.stopManager();
    // Kubernetes deletes events after an hour.
    const { metadata } = await testCluster.get(deployment, namespace, 'app');
    const status = metadata.annotations?.[annotations.instrumentation]?.replace(/\d{4}-\S+Z/, inMinutes(-61));
    expect(status).toContain(inMinutes(-61).slice(0, 13));
    await testCluster.merge(deployment, namespace, 'app', {
      metadata: { annotations: { [annotations.instrumentation]: status } },
    });
    await cluster.client.delete(lease());
    await operator.startManager();
    await testCluster.waitForWebhook(namespace);
    await testCluster.create(createWorkload(deployment, namespace, 'next'));
    await waitForReasons(namespace, 'next', 'LumigoAddedInstrumentation');
    expect(await testCluster.reasons(namespace, 'app')).toEqual(['LumigoAddedInstrumentation']);
  });

  it('are not posted in a later one, if another leader has reported them', async () => {
    const { testCluster, cluster } = operator;
    let isRefused = false;
    proxy.interfere = ({ path, isWrite }) => {
      if (!isWrite || !path.includes('/events')) return undefined;
      isRefused = true;
      return { answer: 503 };
    };
    const namespace = await testCluster.instrumented('waiting');
    await testCluster.create(createWorkload(deployment, namespace, 'other'));
    await eventually(() => expect(isRefused).toBe(true));
    const before = terms();
    // The last sign of life of another leader, long after the end of this term.
    const renewTime = inMinutes(10).replace('Z', '000Z');
    const spec = { holderIdentity: 'another', leaseDurationSeconds: 1, renewTime };
    await cluster.client.patch(lease(), { kind: 'merge', body: { spec } });
    await eventually(() => expect(terms()).toBe(before + 1), { timeoutMs: 40_000 });
    proxy.interfere = undefined;
    await testCluster.merge(deployment, namespace, 'other', { metadata: { labels: { [labels.autoTrace]: 'false' } } });
    // The events of a namespace are posted in order, if one was refused.
    await waitForReasons(namespace, 'other', 'LumigoRemovedInstrumentation');
    expect(await testCluster.reasons(namespace, 'app')).toEqual([]);
  });
});
