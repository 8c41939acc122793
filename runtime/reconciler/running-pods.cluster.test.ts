import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { operatorRequests, type AuditEntry } from '../../sandbox/testing/audit.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import type { Outcome } from '../../sandbox/testing/pod-outcomes.ts';
import { RolloutStages, type RolloutStage } from '../../sandbox/testing/rollout-stage.ts';
import { workloadKinds } from '../contract.ts';

let operator: OperatorBench;
const stages = new RolloutStages();
beforeAll(async () => {
  operator = await startOperator({
    audit: true,
    settings: { rollout: { soakSeconds: 2 } },
    apiServerFlags: ['--disable-admission-plugins=ServiceAccount'],
  });
});
afterEach(() => stages.end());
afterAll(() => operator?.stop());

const { statefulSet } = workloadKinds;

const WORKLOADS = 40;
const MAX_REQUESTS = 4;

const sent = (): readonly AuditEntry[] =>
  operatorRequests(operator.cluster, operator.installation).filter(
    ({ stage, objectRef }) => stage !== 'ResponseStarted' && objectRef?.resource !== 'leases',
  );

describe('a rollout', () => {
  it('costs at most four requests for each workload with running pods, and two each second', async () => {
    const names = Array.from({ length: WORKLOADS }, (_, index) => `app-${index}`);
    const stage = await stages.make(operator, 'many', Object.fromEntries(names.map((name) => [name, {}])));
    stage.become('ready', ...names);
    const before = sent().length;
    const started = performance.now();
    await stage.activate();
    await stage.waitForInstrumented(...names.toSorted());
    await stage.waitForCondition({ reason: 'Complete' });
    const counts: Record<string, number> = {};
    for (const { verb, objectRef } of sent().slice(before)) {
      const what = `${verb} ${objectRef?.resource}${objectRef?.subresource === undefined ? '' : `/${objectRef.subresource}`}`;
      counts[what] = (counts[what] ?? 0) + 1;
    }
    const seconds = (performance.now() - started) / 1_000;
    const all = Object.values(counts).reduce((sum, each) => sum + each, 0);
    process.stderr.write(
      `      ${(all / WORKLOADS).toFixed(2)} requests for each workload in ${seconds.toFixed(0)} s: ${JSON.stringify(counts)}\n`,
    );
    // Slow pods are looked at every four seconds, with three requests. The status is written at most once a second.
    const looks = counts['list pods'] ?? 0;
    expect(looks).toBeLessThanOrEqual((WORKLOADS * seconds) / 4);
    expect(all - 3 * looks).toBeLessThanOrEqual(MAX_REQUESTS * WORKLOADS + 2 * seconds);
  });
});

const budget = { group: 'policy', version: 'v1', plural: 'poddisruptionbudgets', name: 'all' };

async function broken(prefix: string, outcome: Outcome): Promise<RolloutStage> {
  const stage = await stages.make(operator, prefix, { db: { kind: statefulSet, spec: { replicas: 3 } } });
  stage.become(outcome, 'db');
  return stage;
}

const evictions = (namespace: string) =>
  operatorRequests(operator.cluster, operator.installation)
    .filter(({ objectRef }) => objectRef?.namespace === namespace && objectRef.subresource === 'eviction')
    .map(({ objectRef, responseStatus }) => [objectRef?.name, responseStatus?.code]);

const waitForRecovery = ({ kubelet }: RolloutStage): Promise<void> =>
  eventually(
    () => {
      const seen = kubelet.seen('db').map(({ name, injector, ordered: said }) => [name, injector, said]);
      expect(seen.sort()).toEqual(['db-0', 'db-1', 'db-2'].map((name) => [name, undefined, 'ready']));
    },
    { timeoutMs: 40_000 },
  );

/** A StatefulSet's controller waits for a broken pod even after its template is reverted (kubernetes#67250). */
describe('the reconciler', () => {
  it('evicts the broken pod of a reverted StatefulSet after its template, and no other [F58]', async () => {
    const stage = await broken('evicted', 'no-injector-image');
    const { uid = '' } = (await stage.kubelet.pods()).find(({ metadata }) => metadata.name === 'db-0')?.metadata ?? {};
    await stage.activate();
    await stage.waitForReverted('db', 'InjectorImage');
    await waitForRecovery(stage);
    expect(evictions(stage.namespace)).toEqual([['db-2', 201]]);
    expect(stage.kubelet.seen('db').map((pod) => pod.uid)).toContain(uid);
  });

  it('evicts a pod as soon as its disruption budget allows it, also as the next leader', async () => {
    const stage = await broken('held', 'crashes');
    const { testCluster, namespace } = stage;
    await testCluster.create({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { namespace, name: 'all' },
      spec: { maxUnavailable: 0, selector: {} },
    });
    await stage.activate();
    await stage.waitForReverted('db', 'Crash');
    await eventually(() => expect(evictions(namespace)).toContainEqual(['db-2', 429]));
    expect(stage.kubelet.seen('db').find(({ name }) => name === 'db-2')?.injector).toBeDefined();
    await operator.stopManager();
    const former = evictions(namespace).length;
    await operator.startManager();
    await eventually(() => expect(evictions(namespace).slice(former)).toContainEqual(['db-2', 429]));
    await operator.cluster.client.delete({ ...budget, namespace });
    await waitForRecovery(stage);
    expect(new Set(evictions(namespace).map(([name]) => name))).toEqual(new Set(['db-2']));
  });
});
