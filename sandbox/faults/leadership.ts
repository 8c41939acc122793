import { setTimeout as sleep } from 'node:timers/promises';
import { aborted } from '../../runtime/async/aborted.ts';
import { suffixes, workloads } from '../../runtime/contract.ts';
import { eventually } from '../testing/eventually.ts';
import type { Passing } from './api-proxy.ts';
import type { Fleet } from './fleet.ts';
import { askForLogs, beginInstrumenting } from './steps.ts';
import type { FaultRun } from './fault-run.ts';

/** The Lease expires within this time, so another replica has taken it. */
const BEYOND_LEASE = { timeoutMs: 60_000 };
const COLLECTED = 'lumigo_operator_telemetry_collected_namespaces';
/** A replica without the lead stands for election, and requests the token of its telemetry proxy. */
const unled: ReadonlySet<string> = new Set(['leases', 'serviceaccounts/token']);
const writing: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete']);

export async function paused(faultRun: FaultRun, fleet: Fleet, size: { stoppedMs: number; watchedMs: number }) {
  const { operator } = faultRun.testbed;
  const second = await faultRun.another();
  await waitForLeaseHolder(faultRun, 'manager-0');
  await beginInstrumenting(faultRun, fleet);
  const { pid } = operator.manager();
  const started = Date.now();
  process.kill(pid, 'SIGSTOP');
  // The policy of the old leader's current work is then outdated.
  await askForLogs(fleet);
  await waitForLeaseHolder(faultRun, second.name);
  await sleep(Math.max(0, started + size.stoppedMs - Date.now()));
  const continuedAt = Date.now();
  process.kill(pid, 'SIGCONT');
  await sleep(size.watchedMs);
  judgeWrites(faultRun, 'the old leader', continuedAt);
}

/** The first manager's reads are answered only after another replica leads. */
export async function unsynced(faultRun: FaultRun, fleet: Fleet, { watchedMs }: { watchedMs: number }) {
  const { operator, proxy, getFirstCredential } = faultRun.testbed;
  await beginInstrumenting(faultRun, fleet);
  await operator.killManager();
  const killedAt = Date.now();
  const holding = new AbortController();
  const released = aborted(holding.signal);
  const isFirst = ({ credential }: Passing) => credential === getFirstCredential();
  const holdReads = (passing: Passing) =>
    isRead(passing) && isFirst(passing) ? { holdAnswer: () => released } : undefined;
  proxy.interfere = holdReads;
  const starting = operator.startManager();
  try {
    // The manager that was killed had the same name.
    await waitForLeaseHolder(faultRun, 'manager-0', killedAt);
    const second = await faultRun.another();
    await second.joinCollector();
    proxy.interfere = (passing) =>
      passing.path.includes('/leases/') && isFirst(passing) ? { answer: 500 } : holdReads(passing);
    await waitForLeaseHolder(faultRun, second.name);
    await askForLogs(fleet);
    const releasedAt = Date.now();
    proxy.interfere = undefined;
    holding.abort();
    await starting;
    await operator.manager().joinCollector();
    await eventually(async () => {
      if ((await second.metric(COLLECTED)) === 0) throw new Error('the new leader does not collect');
    });
    await sleep(watchedMs);
    judgeWrites(faultRun, 'the lost term', releasedAt);
    if ((await operator.metric(COLLECTED)) > 0)
      faultRun.broken('two replicas collect events and objects at the same time');
  } finally {
    holding.abort();
    proxy.interfere = undefined;
    await starting;
  }
}

/** The lists that a leader starts from, and the watch of `Lumigo` resources, which begins with all of them. */
const isRead = ({ path, isWrite }: Passing): boolean =>
  !isWrite && ['lumigoes', ...workloads.map(({ plural }) => plural)].some((plural) => path.includes(`/${plural}?`));

/** The first manager no longer leads, so it must not write, even if the API server refuses the write. */
function judgeWrites(faultRun: FaultRun, who: string, sinceMs: number): void {
  const { history, getFirstCredential } = faultRun.testbed;
  const credential = getFirstCredential();
  const written = history
    .refresh()
    .requests.filter((each) => each.credential === credential && each.atMs >= sinceMs)
    .filter(({ resource, verb }) => !unled.has(resource) && writing.has(verb));
  const [first] = written;
  if (first !== undefined)
    faultRun.broken(`${who} wrote ${written.length} times, first: ${first.verb} ${first.resource}/${first.name}`);
}

function waitForLeaseHolder({ testbed: { operator, reader } }: FaultRun, manager: string, sinceMs = 0): Promise<void> {
  const { namespace, name } = operator.installation.settings;
  return eventually(async () => {
    const { spec } = await reader.lease(namespace, `${name}${suffixes.lease}`);
    const { holderIdentity: holder, renewTime = 0 } = spec ?? {};
    // The client returns it as text.
    if (holder !== manager || Number(new Date(renewTime)) < sinceMs)
      throw new Error(`${holder} holds the Lease since ${String(renewTime)}, not ${manager}`);
  }, BEYOND_LEASE);
}
