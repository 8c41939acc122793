import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { getUsage } from '../../bench/process-usage.ts';
import { workloadKinds } from '../../runtime/contract.ts';
import { isConflict, undefinedIf, undefinedIfNotFound } from '../../runtime/kubernetes/http/errors.ts';
import { eventually } from '../testing/eventually.ts';
import type { Fleet } from './fleet.ts';
import { getWarnings } from './reader.ts';
import { instrumentAll, waitForInstrumented } from './steps.ts';
import type { FaultRun } from './fault-run.ts';

interface Fight {
  readonly observedMs: number;
  /** The number of writes that the backoff allows in that time: twice at once, after 60 s, then after an hour. */
  readonly allowed: number;
}

const { deployment } = workloadKinds;
const contested = 'app-0';
const foreign = 'example.com/another-controller';
/** An idle manager takes well below a hundredth of a core. */
const IDLE_SHARE = 0.05;
const IDLE_LINES = 5;

export async function fight(faultRun: FaultRun, fleet: Fleet, { observedMs, allowed }: Fight) {
  await instrumentAll(faultRun, fleet);
  await faultRun.rest();
  fleet.exempt.add(contested);
  fleet.isReported = false;
  const before = await readReports(faultRun, fleet);
  let isOver = false;
  const restoring = restoreUntil(fleet, () => isOver);
  await sleep(observedMs);
  // The event and the condition of the last write may be on their way.
  await eventually(async () => {
    const { writes, warnings, conditions } = await readReports(faultRun, fleet);
    assert(writes === before.writes || (warnings !== before.warnings && conditions !== before.conditions));
  }).catch(() => undefined);
  isOver = true;
  await restoring;
  const after = await readReports(faultRun, fleet);
  const writes = after.writes - before.writes;
  faultRun.figures['writes by the operator'] = writes;
  if (writes > allowed) faultRun.broken(`${writes} writes against another controller in ${observedMs / 1_000} s`);
  if (writes === 0) return;
  if (after.warnings === before.warnings) faultRun.broken('no event says that another controller undoes each change');
  if (after.conditions === before.conditions)
    faultRun.broken('no condition says that another controller undoes each change');
}

/** Reads the writes first, because their reports follow. */
async function readReports({ testbed: { history, reader } }: FaultRun, { namespace }: Fleet) {
  const { writes } = history.refresh();
  const look = await reader.look(namespace);
  const uid = look.workloads.find(({ metadata }) => metadata.name === contested)?.metadata.uid;
  const conditions = look.lumigoes
    .flatMap(({ status }) => status?.conditions ?? [])
    .filter(({ type }) => type !== 'WebhookReachable');
  return {
    writes: writes.filter((write) => write.uid === uid && write.byOperator).length,
    warnings: getWarnings(look).filter(({ involvedObject }) => involvedObject.uid === uid).length,
    conditions: JSON.stringify(conditions.map(({ type, status, message }) => [type, status, message])),
  };
}

/** Another controller looks once a second, and restores its template if it is changed. */
async function restoreUntil(fleet: Fleet, isOver: () => boolean): Promise<void> {
  for (; !isOver(); await sleep(1_000))
    if (await fleet.testCluster.isInstrumented(deployment, fleet.namespace, contested))
      await fleet.restore(contested).catch(undefinedIf(isConflict));
}

export const fightWithoutWebhook = (faultRun: FaultRun, fleet: Fleet, size: Fight): Promise<void> =>
  faultRun.testbed.operator.withoutWebhook(() => fight(faultRun, fleet, size));

export async function foreignFinalizer(faultRun: FaultRun, fleet: Fleet, { observedMs }: { observedMs: number }) {
  const { testCluster, namespace } = fleet;
  await testCluster.activate(namespace);
  const { finalizers = [] } = (await testCluster.readLumigo(namespace)).metadata;
  await testCluster.changeLumigo(namespace, { metadata: { finalizers: [...finalizers, foreign] } });
  await faultRun.rest();
  await fleet.deleteLumigo();
  await waitForInstrumented(faultRun, fleet, (found) => found === 0);
  await faultRun.rest(5_000);
  // A write of the finalizer's owner shows the `Lumigo` again after the operator has done all its work.
  await testCluster.changeLumigo(namespace, { metadata: { annotations: { 'example.com/progress': 'half' } } });
  await sleep(2_000);
  await judgeIdle(faultRun, observedMs);
  await testCluster.changeLumigo(namespace, { metadata: { finalizers: [] } }).catch(undefinedIfNotFound);
}

async function judgeIdle(faultRun: FaultRun, observedMs: number): Promise<void> {
  const { pid, logFile } = faultRun.testbed.operator.manager();
  const used = () => ({ ...getUsage(pid), lines: readFileSync(logFile, 'utf8').split('\n').length });
  const before = used();
  await sleep(observedMs);
  const after = used();
  const cpu = (after.cpuSeconds - before.cpuSeconds) / (observedMs / 1_000);
  const lines = after.lines - before.lines;
  Object.assign(faultRun.figures, { 'of a core while it waits': cpu, 'log lines while it waits': lines });
  if (cpu > IDLE_SHARE) faultRun.broken(`${Math.round(cpu * 100)} % of a core while it waits`);
  if (lines > IDLE_LINES) faultRun.broken(`${lines} log lines in ${observedMs / 1_000} s of waiting`);
}
