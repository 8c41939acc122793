import { setTimeout as sleep } from 'node:timers/promises';
import { suffixes, workloads } from '../../../runtime/contract.ts';
import { kinds } from '../../../runtime/kubernetes/resources/kinds.ts';
import { eventually } from '../../testing/eventually.ts';
import type { Passing } from '../api-proxy.ts';
import { scenarioOf, type Trial } from '../scenario.ts';
import { beginInstrumenting, writesOf } from '../steps.ts';

/** Longer than the Lease lasts: somebody else has taken it by then. */
const BEYOND_LEASE_MS = 30_000;
const COLLECTED = 'lumigo_operator_telemetry_collected_namespaces';

export const paused = scenarioOf({
  name: 'paused',
  holds: 'F2: a leader that was stopped beyond its Lease with work in hand writes nothing when it goes on',
  pods: true,
  short: { workloads: 100, stoppedMs: 20_000, watchedMs: 5_000 },
  full: { workloads: 1_000, stoppedMs: 40_000, watchedMs: 20_000 },
  async run(trial, { workloads, stoppedMs, watchedMs }) {
    const { operator } = trial;
    const fleet = await trial.fleet(workloads);
    const second = await trial.another();
    await eventually(async () => expectLeader(await operator.metric('lumigo_operator_leader')));
    await beginInstrumenting(trial, fleet);
    const { pid } = operator.manager();
    const started = Date.now();
    process.kill(pid, 'SIGSTOP');
    // What the old leader has in hand is of a policy that holds no more.
    await fleet.bench.changeLumigo(fleet.namespace, { spec: { logging: { enabled: true } } });
    await eventually(async () => expectLeader(await second.metric('lumigo_operator_leader')), {
      timeoutMs: BEYOND_LEASE_MS,
    });
    await sleep(Math.max(0, started + stoppedMs - Date.now()));
    const goesOn = Date.now();
    process.kill(pid, 'SIGCONT');
    await sleep(watchedMs);
    const written = judgeWrites(trial, 'the old leader', 'manager-0', goesOn);
    trial.figure('writes by the old leader after it went on', written);
  },
});

/** A manager that does not lead any more has nothing to write; returns how often it did. */
function judgeWrites(trial: Trial, who: string, manager: string, sinceMs: number): number {
  const written = writesOf(trial, trial.credentialOf(manager), sinceMs);
  const [first] = written;
  if (first !== undefined)
    trial.broken(`${who} wrote ${written.length} times, first: ${first.verb} ${first.resource}/${first.name}`);
  return written.length;
}

function expectLeader(metric: number): void {
  if (metric !== 1) throw new Error('this manager does not lead');
}

export const unsynced = scenarioOf({
  name: 'unsynced-term',
  holds: 'F2: a term that is lost before everything was read changes nothing, and does not collect beside the next one',
  pods: true,
  short: { workloads: 30, watchedMs: 8_000 },
  full: { workloads: 300, watchedMs: 20_000 },
  async run(trial, { workloads, watchedMs }) {
    const { operator, proxy, credentialOf } = trial;
    const fleet = await trial.fleet(workloads);
    await beginInstrumenting(trial, fleet);
    await operator.killManager();
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    proxy.interfere = (passing) =>
      isRead(passing) && passing.credential === credentialOf('manager-0') ? { holdAnswer: () => released } : undefined;
    const starting = operator.startManager();
    try {
      const before = await whenHeldBy(trial, 'manager-0');
      const second = await trial.another();
      await second.joinCollector();
      const { interfere } = proxy;
      proxy.interfere = (passing) =>
        passing.path.includes('/leases/') && passing.credential === credentialOf('manager-0')
          ? { answer: 500 }
          : interfere?.(passing);
      await whenHeldBy(trial, second.name);
      await fleet.bench.changeLumigo(fleet.namespace, { spec: { logging: { enabled: true } } });
      const releasedAt = Date.now();
      proxy.interfere = undefined;
      release();
      await starting;
      await operator.manager().joinCollector();
      await eventually(async () => {
        if ((await second.metric(COLLECTED)) === 0) throw new Error('the new leader does not collect');
      });
      await sleep(watchedMs);
      await judgeTwo(trial, releasedAt, before);
    } finally {
      release();
      proxy.interfere = undefined;
      await starting;
    }
  },
});

/** The lists that a leader starts from, and the Lumigo resources, which come as a watch that begins with all there is. */
const isRead = ({ path, isWrite }: Passing): boolean =>
  !isWrite && ['lumigoes', ...workloads.map(({ plural }) => plural)].some((plural) => path.includes(`/${plural}?`));

async function whenHeldBy({ operator }: Trial, manager: string): Promise<string> {
  const { namespace, name } = operator.installation.settings;
  const ref = { ...kinds.leases, namespace, name: `${name}${suffixes.lease}` };
  return eventually(
    async () => {
      const { spec } = (await operator.cluster.client.get(ref)) as { spec?: { holderIdentity?: string } };
      if (spec?.holderIdentity !== manager) throw new Error(`${spec?.holderIdentity} holds the Lease, not ${manager}`);
      return manager;
    },
    { timeoutMs: BEYOND_LEASE_MS },
  );
}

async function judgeTwo(trial: Trial, sinceMs: number, old: string): Promise<void> {
  judgeWrites(trial, 'the lost term', old, sinceMs);
  const collects = await trial.operator.metric(COLLECTED);
  trial.figure('namespaces that the lost term collects', collects);
  if (collects > 0) trial.broken('two replicas collect events and objects at the same time');
}
