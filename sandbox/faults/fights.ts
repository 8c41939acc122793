import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { usageOf } from '../../bench/process-usage.ts';
import { workloadKinds } from '../../runtime/contract.ts';
import { isConflict, undefinedIf, undefinedIfNotFound } from '../../runtime/kubernetes/http/errors.ts';
import type { Fleet } from './fleet.ts';
import { isWarning } from './look.ts';
import { instrumentAll, whenInstrumented } from './steps.ts';
import type { Trial } from './trial.ts';

interface Fight {
  readonly observedMs: number;
  /** The number of writes that the backoff allows in that time: at once, after 10 s, after 60 s, then after an hour. */
  readonly allowed: number;
}

const { deployment } = workloadKinds;
const contested = 'app-0';
const foreign = 'example.com/another-controller';
/** An idle manager takes well below a hundredth of a core. */
const IDLE_SHARE = 0.05;
const IDLE_LINES = 5;

export async function fight(trial: Trial, fleet: Fleet, { observedMs, allowed }: Fight) {
  const { reader, history } = trial.testbed;
  await instrumentAll(trial, fleet);
  await trial.rest();
  fleet.exempt.add(contested);
  fleet.isReported = false;
  const { uid } = (await fleet.bench.client.get(fleet.ref(contested))).metadata;
  const look = async () => ({
    writes: history.refresh().writes.filter((write) => write.uid === uid && write.byOperator).length,
    warnings: (await reader.events(fleet.namespace)).filter(
      (each) => each.involvedObject.uid === uid && isWarning(each),
    ).length,
    conditions: JSON.stringify(
      (await reader.lumigoes(fleet.namespace)).map(({ status }) =>
        status?.conditions?.map(({ type, status: is, message }) => type !== 'WebhookReachable' && [type, is, message]),
      ),
    ),
  });
  const before = await look();
  await restoreFor(fleet, observedMs);
  const after = await look();
  const writes = after.writes - before.writes;
  trial.figures['writes by the operator'] = writes;
  if (writes > allowed) trial.broken(`${writes} writes against another controller in ${observedMs / 1_000} s`);
  if (writes === 0) return;
  if (after.warnings === before.warnings) trial.broken('no event says that another controller undoes each change');
  if (after.conditions === before.conditions)
    trial.broken('no condition says that another controller undoes each change');
}

/** Another controller looks once a second, and restores its template if it is changed. */
async function restoreFor(fleet: Fleet, milliseconds: number): Promise<void> {
  for (const end = Date.now() + milliseconds; Date.now() < end; await sleep(1_000))
    if (await fleet.bench.isInstrumented(deployment, fleet.namespace, contested))
      await fleet.restore(contested).catch(undefinedIf(isConflict));
}

export const fightWithoutWebhook = (trial: Trial, fleet: Fleet, size: Fight): Promise<void> =>
  trial.testbed.operator.withoutWebhook(() => fight(trial, fleet, size));

export async function foreignFinalizer(trial: Trial, fleet: Fleet, { observedMs }: { observedMs: number }) {
  const { bench, namespace } = fleet;
  await bench.activate(namespace);
  const { finalizers = [] } = (await bench.readLumigo(namespace)).metadata;
  await bench.changeLumigo(namespace, { metadata: { finalizers: [...finalizers, foreign] } });
  await trial.rest();
  await fleet.deleteLumigo();
  await whenInstrumented(trial, fleet, (found) => found === 0);
  await trial.rest(5_000);
  // A write of the finalizer's owner shows the `Lumigo` again after the operator has done all its work.
  await bench.changeLumigo(namespace, { metadata: { annotations: { 'example.com/progress': 'half' } } });
  await sleep(2_000);
  await judgeIdle(trial, observedMs);
  await bench.changeLumigo(namespace, { metadata: { finalizers: [] } }).catch(undefinedIfNotFound);
}

async function judgeIdle(trial: Trial, observedMs: number): Promise<void> {
  const { pid, logFile } = trial.testbed.operator.manager();
  const used = () => ({ ...usageOf(pid), lines: readFileSync(logFile, 'utf8').split('\n').length });
  const before = used();
  await sleep(observedMs);
  const after = used();
  const cpu = (after.cpuSeconds - before.cpuSeconds) / (observedMs / 1_000);
  const lines = after.lines - before.lines;
  Object.assign(trial.figures, { 'of a core while it waits': cpu, 'log lines while it waits': lines });
  if (cpu > IDLE_SHARE) trial.broken(`${Math.round(cpu * 100)} % of a core while it waits`);
  if (lines > IDLE_LINES) trial.broken(`${lines} log lines in ${observedMs / 1_000} s of waiting`);
}
