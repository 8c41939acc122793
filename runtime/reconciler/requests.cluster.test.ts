import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { operatorRequests, type AuditEntry } from '../../sandbox/testing/audit.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { RolloutStages } from '../../sandbox/testing/rollout-stage.ts';

let operator: OperatorBench;
const stages = new RolloutStages();
beforeAll(async () => {
  operator = await startOperator({
    ...{ audit: true, settings: { rollout: { soakSeconds: 2 } } },
    apiServerFlags: ['--disable-admission-plugins=ServiceAccount'],
  });
});
afterEach(() => stages.end());
afterAll(() => operator?.stop());

const WORKLOADS = 40;
const MAX_REQUESTS = 4;

const sent = (): readonly AuditEntry[] =>
  operatorRequests(operator.cluster, operator.installation).filter(
    ({ stage, objectRef }) => stage !== 'ResponseStarted' && objectRef?.resource !== 'leases',
  );

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
  // Slow pods are looked at more often, and the status is written at most once a second.
  expect(all).toBeLessThanOrEqual(MAX_REQUESTS * WORKLOADS + 2 * seconds);
});
