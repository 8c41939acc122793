import { cpSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Interference, Passing } from './api-proxy.ts';
import type { Fleet } from './fleet.ts';
import type { Random } from './random.ts';
import { getWarnings } from './reader.ts';
import {
  askForLogs,
  beginInstrumenting,
  flagAtRandom,
  instrumentAll,
  keepChanging,
  waitForControllers,
  waitForSomeReviews,
  type Changes,
} from './steps.ts';
import type { FaultRun } from './fault-run.ts';

const CUT_EVERY_MS = 200;
const SLOW_MS = 500;
const MAX_LATE_MS = 1_500;
/** The watch shows the write before its answer breaks off. */
const SHOWN_MS = 150;

/** An API server that is killed would lose the last entries of its audit log, which the judge counts. */
async function restart(faultRun: FaultRun, fleet: Fleet, options: { downtimeMs?: number; flags?: string[] } = {}) {
  await faultRun.testbed.operator.cluster.restartApiServer({ ...options, signal: 'SIGTERM' });
  await waitForControllers(fleet);
}

export async function away(faultRun: FaultRun, fleet: Fleet, { downtimeMs }: { downtimeMs: number }) {
  await beginInstrumenting(faultRun, fleet);
  await restart(faultRun, fleet, { downtimeMs });
  await flagAtRandom(faultRun, fleet);
}

export async function withoutWatchCache(faultRun: FaultRun, fleet: Fleet) {
  await restart(faultRun, fleet, { flags: ['--watch-cache=false'] });
  try {
    await instrumentAll(faultRun, fleet);
    await flagAtRandom(faultRun, fleet);
    await faultRun.rest();
  } finally {
    await restart(faultRun, fleet);
  }
  await flagAtRandom(faultRun, fleet);
}

export async function flaky(faultRun: FaultRun, fleet: Fleet, changes: Changes) {
  const { proxy, reader } = faultRun.testbed;
  proxy.interfere = (passing) => (faultRun.random.chance(0.15) ? oneOf(faultRun.random, passing) : undefined);
  await keepChanging(faultRun, fleet, changes);
  proxy.interfere = undefined;
  await faultRun.rest();
  const { length } = getWarnings(await reader.look(fleet.namespace));
  if (length > 0) faultRun.broken(`${length} warnings of changes that only had to be retried`);
}

function oneOf(random: Random, { isWatch }: Passing): Interference {
  const chosen = random.between(0, 2);
  if (chosen === 0) return { answer: 429, retryAfterSeconds: 1 };
  // A watch has no complete answer. The fault `watches-cut` breaks watches.
  return chosen === 1 || isWatch ? { answer: 500 } : { cutBody: true };
}

export async function slowEtcd(faultRun: FaultRun, fleet: Fleet) {
  faultRun.testbed.etcd.delayAnswers(SLOW_MS);
  faultRun.figures['ms to instrument all'] = await instrumentAll(faultRun, fleet);
  await flagAtRandom(faultRun, fleet);
  await sleep(SLOW_MS * 4);
  await flagAtRandom(faultRun, fleet);
}

export async function watchesCut(faultRun: FaultRun, fleet: Fleet, changes: Changes) {
  const cut = () => faultRun.testbed.proxy.cutWatches(() => faultRun.random.chance(0.2));
  const cutting = setInterval(cut, CUT_EVERY_MS);
  await keepChanging(faultRun, fleet, changes).finally(() => clearInterval(cutting));
}

export const lateAnswers = changedWhile(({ random }) => {
  if (random.chance(0.5)) return undefined;
  const lateMs = random.between(0, MAX_LATE_MS);
  return { holdAnswer: () => sleep(lateMs) };
});

export const lostAnswers = changedWhile(({ random }) =>
  random.chance(0.7) ? undefined : { holdAnswer: () => sleep(SHOWN_MS), cutBody: true },
);

/** Interferes with the answers to writes, except those of the Lease. */
function changedWhile(interfere: (faultRun: FaultRun) => Interference | undefined) {
  return async (faultRun: FaultRun, fleet: Fleet, changes: Changes): Promise<void> => {
    faultRun.testbed.proxy.interfere = ({ isWrite, path }) =>
      isWrite && !path.includes('/leases/') ? interfere(faultRun) : undefined;
    await keepChanging(faultRun, fleet, changes);
  };
}

/** @param size `lostWrites` are lost with the restored etcd, so its versions are lower by that number */
export async function etcdRestored(faultRun: FaultRun, fleet: Fleet, { lostWrites }: { lostWrites: number }) {
  const { testCluster, namespace } = fleet;
  const { cluster } = faultRun.testbed.operator;
  await testCluster.activate(namespace);
  await faultRun.rest();
  const backup = `${cluster.dir}/etcd-backup`;
  await cluster.whileDown((data) => cpSync(data, backup, { recursive: true }));
  await waitForControllers(fleet);
  await askForLogs(fleet);
  for (let written = 0; written < lostWrites; written += 1) {
    const body = { metadata: { annotations: { written: String(written) } } };
    await testCluster.client.patch(fleet.ref(fleet.names[0] ?? ''), { kind: 'merge', body });
  }
  await waitForSomeReviews(faultRun, fleet);
  const sincePlanned = withoutLumigoes(faultRun);
  await cluster.whileDown((data) => {
    rmSync(data, { recursive: true });
    cpSync(backup, data, { recursive: true });
  });
  await faultRun.countFromHere();
  await sincePlanned;
  await waitForControllers(fleet);
  // Each step comes to rest separately: a deleted `Lumigo` that was seen earlier would hide unseen workloads.
  await fleet.create('born-afterwards');
  await faultRun.rest(10_000);
  await testCluster.changeLumigo(namespace, { spec: { tracing: { enabled: false } } });
  await faultRun.rest();
}

/** The restored workloads are seen first, so the manager still knows a `Lumigo` of a later version. */
async function withoutLumigoes({ testbed: { proxy } }: FaultRun): Promise<void> {
  await new Promise<void>((resolve) => {
    proxy.interfere = ({ path, isWrite, isWatch }) => {
      const { pathname } = new URL(path, proxy.server);
      if (isWatch && pathname.endsWith('/deployments')) resolve();
      return !isWrite && pathname.endsWith('/lumigoes') ? { answer: 503 } : undefined;
    };
  });
  await sleep(3_000);
  proxy.interfere = undefined;
}
