import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { usageOf } from '../../../bench/process-usage.ts';
import { lumigo as contract, workloads } from '../../../runtime/contract.ts';
import { isConflict, undefinedIf, undefinedIfNotFound } from '../../../runtime/kubernetes/http/errors.ts';
import type { Fleet } from '../fleet.ts';
import { scenarioOf, type Trial } from '../scenario.ts';
import { whenInstrumented, whenNoneInstrumented } from '../steps.ts';

interface Fight {
  readonly observedMs: number;
  /** What the backoff (at once, after 10 s, after 60 s, then an hour) allows within that time. */
  readonly allowed: number;
}

const [deployment] = workloads;
const contested = 'app-0';

/** Puts a workload's own template back, once a second, as long as it is another one. */
function keepPuttingBack(fleet: Fleet) {
  const { bench, namespace } = fleet;
  const end = new AbortController();
  let times = 0;
  const looking = (async () => {
    while (!end.signal.aborted) {
      if (await bench.isInstrumented(deployment, namespace, contested)) {
        await fleet.putBack(contested).catch(undefinedIf(isConflict));
        times += 1;
      }
      await sleep(1_000, undefined, { signal: end.signal }).catch(() => undefined);
    }
  })();
  return {
    async end(): Promise<number> {
      end.abort();
      await looking;
      return times;
    },
  };
}

const conditionsOf = async ({ bench, namespace }: Fleet): Promise<string> =>
  JSON.stringify(
    (await bench.readLumigo(namespace)).status?.conditions?.map(({ type, status, reason, message }) =>
      type === 'WebhookReachable' ? undefined : [type, status, reason, message],
    ),
  );

async function fight(trial: Trial, { observedMs, allowed }: Fight): Promise<number> {
  const fleet = await trial.fleet(5);
  await fleet.bench.activate(fleet.namespace);
  await whenInstrumented(fleet, fleet.size);
  await trial.rest();
  fleet.exempt.add(contested);
  fleet.isTold = false;
  const conditions = await conditionsOf(fleet);
  const { uid } = (await fleet.bench.client.get(fleet.ref(contested))).metadata;
  const began = Date.now();
  const other = keepPuttingBack(fleet);
  await sleep(observedMs);
  const { writes, posts } = trial.history();
  const additions = writes.filter((write) => write.uid === uid && write.byOperator && write.atMs >= began).length;
  const told = posts.filter((post) => post.uid === uid && post.isWarning && post.atMs >= began).length;
  const after = await conditionsOf(fleet);
  trial.figure('undone by the other writer', await other.end());
  trial.figure('writes by the operator', additions);
  trial.figure('warnings about it', told);
  if (additions > allowed) trial.broken(`${additions} writes against another controller in ${observedMs / 1_000} s`);
  if (additions === 0) return additions;
  if (told === 0) trial.broken('no event says that another controller undoes each change');
  if (after === conditions) trial.broken('no condition says that another controller undoes each change');
  return additions;
}

const fightSizes = { short: { observedMs: 20_000, allowed: 2 }, full: { observedMs: 90_000, allowed: 3 } };

export const fightWithoutWebhook = scenarioOf({
  name: 'fight-without-webhook',
  holds:
    'F4: where another controller restores its own template and the webhook is away, the operator gives way and says so',
  ...fightSizes,
  run: (trial, parameters) => trial.operator.withoutWebhook(() => fight(trial, parameters)).then(() => undefined),
});

export const fightWithWebhook = scenarioOf({
  name: 'fight-with-webhook',
  holds: 'F4: where the webhook answers a controller that restores its own template, the operator need not write',
  short: { observedMs: 10_000, allowed: 2 },
  full: fightSizes.full,
  run: (trial, parameters) => fight(trial, parameters).then(() => undefined),
});

/** An idle manager takes well below a hundredth of a core. */
const IDLE_SHARE = 0.05;
const IDLE_LINES = 5;
const foreign = 'example.com/somebody-else';

export const foreignFinalizer = scenarioOf({
  name: 'foreign-finalizer',
  holds: "F5: a deleted Lumigo that waits for somebody else's finalizer costs what an idle one costs",
  short: { workloads: 20, observedMs: 5_000 },
  full: { workloads: 300, observedMs: 30_000 },
  async run(trial, { workloads, observedMs }) {
    const fleet = await trial.fleet(workloads);
    const { bench, namespace } = fleet;
    await bench.activate(namespace);
    const { finalizers = [] } = (await bench.readLumigo(namespace)).metadata;
    await bench.changeLumigo(namespace, { metadata: { finalizers: [...finalizers, foreign] } });
    await trial.rest();
    await bench.client.delete({ ...contract, namespace, name: 'lumigo' });
    await whenNoneInstrumented(fleet);
    await trial.rest(5_000);
    // Whoever it waits for notes something on it: it is seen again, after all is done that we had to do.
    await bench.changeLumigo(namespace, { metadata: { annotations: { 'example.com/progress': 'half' } } });
    await sleep(2_000);
    await judgeIdle(trial, observedMs);
    await bench.client
      .patch({ ...contract, namespace, name: 'lumigo' }, { kind: 'merge', body: { metadata: { finalizers: [] } } })
      .catch(undefinedIfNotFound);
  },
});

async function judgeIdle(trial: Trial, observedMs: number): Promise<void> {
  const { pid, logFile } = trial.operator.manager();
  const counted = () => ({
    cpuSeconds: usageOf(pid).cpuSeconds,
    lines: readFileSync(logFile, 'utf8').split('\n').length,
    requests: trial.history().requests.length,
  });
  const before = counted();
  await sleep(observedMs);
  const after = counted();
  const cpu = (after.cpuSeconds - before.cpuSeconds) / (observedMs / 1_000);
  const lines = after.lines - before.lines;
  trial.figure('of a core while it waits', Math.round(cpu * 1_000) / 1_000);
  trial.figure('log lines while it waits', lines);
  trial.figure('requests while it waits', after.requests - before.requests);
  if (cpu > IDLE_SHARE) trial.broken(`${Math.round(cpu * 100)} % of a core while it waits`);
  if (lines > IDLE_LINES) trial.broken(`${lines} log lines in ${observedMs / 1_000} s of waiting`);
}
