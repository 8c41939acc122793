import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { operatorRequests, type AuditEntry } from '../../sandbox/testing/audit.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { PodsByHand } from '../../sandbox/testing/pods-by-hand.ts';
import { workloads } from '../contract.ts';

/** What a rollout costs the API server, workload by workload, where pods run. */
let operator: OperatorBench;
beforeAll(async () => {
  operator = await startOperator({
    ...{ audit: true, controllerManager: false },
    settings: { rollout: { soakSeconds: 1 } },
    apiServerFlags: ['--disable-admission-plugins=ServiceAccount'],
  });
});
afterAll(() => operator?.stop());

const [deployment] = workloads;
const WORKLOADS = 40;

const sent = (): readonly AuditEntry[] =>
  operatorRequests(operator.cluster, operator.installation).filter(
    ({ stage, objectRef }) => stage !== 'ResponseStarted' && objectRef?.resource !== 'leases',
  );

it('a rollout that watches pods and waits for turns costs 2.7 requests a workload and one a second at most', async () => {
  const { bench } = operator;
  const namespace = await bench.namespace('many');
  const hand = new PodsByHand(bench, namespace);
  const names = Array.from({ length: WORKLOADS }, (_, index) => `app-${index}`);
  for (const name of names) await hand.deployment(name);
  const before = sent().length;
  const started = performance.now();
  await bench.activate(namespace);
  const running = new Set<string>();
  await eventually(
    async () => {
      for (const name of names) {
        if (running.has(name) || !(await bench.isInstrumented(deployment, namespace, name))) continue;
        running.add(name);
        await hand.start(name, 'ready');
        await hand.settle(name);
      }
      const { status } = await bench.readLumigo(namespace);
      expect(status?.conditions?.find(({ type }) => type === 'RolledOut')).toMatchObject({ reason: 'Complete' });
      expect(status?.instrumentedResources).toHaveLength(WORKLOADS);
    },
    { timeoutMs: 60_000, intervalMs: 200 },
  );
  const counts: Record<string, number> = {};
  for (const { verb, objectRef } of sent().slice(before)) {
    const what = `${verb} ${objectRef?.resource}${objectRef?.subresource === undefined ? '' : `/${objectRef.subresource}`}`;
    counts[what] = (counts[what] ?? 0) + 1;
  }
  const seconds = (performance.now() - started) / 1_000;
  const all = Object.values(counts).reduce((sum, each) => sum + each, 0);
  // Of these there is one a second, however many workloads there are.
  const timed = (counts['patch lumigoes/status'] ?? 0) + (counts['get secrets'] ?? 0);
  process.stderr.write(
    `      ${((all - timed) / WORKLOADS).toFixed(2)} requests a workload: ${JSON.stringify(counts)}\n`,
  );
  expect((all - timed) / WORKLOADS).toBeLessThanOrEqual(2.7);
  expect(timed).toBeLessThanOrEqual(1.25 * seconds + 2);
});
