import { cpSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Interference, Passing } from '../api-proxy.ts';
import type { Fleet } from '../fleet.ts';
import type { Random } from '../random.ts';
import { scenarioOf, type Trial } from '../scenario.ts';
import { beginInstrumenting, flagAtRandom, keepChanging, someTurns, whenInstrumented } from '../steps.ts';

/** One that is killed takes with it what it has not noted yet, and there would be nothing to count by. */
const signal = 'SIGTERM';

export const away = scenarioOf({
  name: 'api-server-away',
  holds: 'an API server that is away in mid-bulk is waited for, and the work goes on',
  pods: true,
  short: { workloads: 60, downtimeMs: 5_000 },
  full: { workloads: 500, downtimeMs: 60_000 },
  async run(trial, { workloads, downtimeMs }) {
    const fleet = await trial.fleet(workloads);
    await beginInstrumenting(trial, fleet);
    await trial.operator.cluster.restartApiServer({ downtimeMs, signal });
    await flagAtRandom(trial, fleet);
  },
});

export const withoutWatchCache = scenarioOf({
  name: 'no-watch-cache',
  holds: 'an API server without a watch cache is worked with as any other',
  pods: true,
  short: { workloads: 30 },
  full: { workloads: 300 },
  async run(trial, { workloads }) {
    const { cluster } = trial.operator;
    const fleet = await trial.fleet(workloads);
    await cluster.restartApiServer({ signal, flags: ['--watch-cache=false'] });
    try {
      await fleet.bench.lumigo(fleet.namespace);
      await whenInstrumented(fleet, fleet.size);
      await flagAtRandom(trial, fleet);
      await trial.rest();
    } finally {
      await cluster.restartApiServer({ signal });
    }
    await flagAtRandom(trial, fleet);
  },
});

export const flaky = scenarioOf({
  name: 'flaky',
  holds: 'F7: 429, 500 and answers cut in half are borne, and nobody is warned of what passes',
  pods: true,
  short: { workloads: 60, changes: 4, pauseMs: 5_000, share: 0.15 },
  full: { workloads: 500, changes: 20, pauseMs: 6_000, share: 0.15 },
  async run(trial, { workloads, share, ...changes }) {
    const { proxy, random } = trial;
    const fleet = await trial.fleet(workloads);
    proxy.interfere = (passing) => (random.chance(share) ? oneOf(random, passing) : undefined);
    await keepChanging(trial, fleet, changes);
    proxy.interfere = undefined;
    await trial.rest();
    const { posts } = trial.history();
    const warned = posts.filter(({ namespace, isWarning }) => isWarning && namespace === fleet.namespace).length;
    if (warned > 0) trial.broken(`${warned} warnings of changes that only had to be tried again`);
  },
});

function oneOf(random: Random, { isWatch }: Passing): Interference {
  const chosen = random.between(0, 2);
  if (chosen === 0) return { answer: 429, retryAfterSeconds: 1 };
  // A watch has no end that it could break before: scenario `watches-cut`.
  return chosen === 1 || isWatch ? { answer: 500 } : { cutBody: true };
}

export const slowEtcd = scenarioOf({
  name: 'slow-etcd',
  holds: 'an etcd that takes half a second for each answer slows the work down and breaks nothing',
  short: { workloads: 40, delayMs: 500 },
  full: { workloads: 300, delayMs: 500 },
  async run(trial, { workloads, delayMs }) {
    const { etcd } = trial;
    const fleet = await trial.fleet(workloads);
    etcd.delayAnswers(delayMs);
    await fleet.bench.lumigo(fleet.namespace);
    trial.figure('ms to instrument all', await whenInstrumented(fleet, workloads));
    await flagAtRandom(trial, fleet);
    await sleep(delayMs * 4);
    await flagAtRandom(trial, fleet);
  },
});

export const etcdRestored = scenarioOf({
  name: 'etcd-restored',
  holds: 'F6: what changes in a cluster that was restored from a backup is noticed, although its versions are lower',
  // `lostWrites`: they are lost with the restored etcd, so much lower are its versions.
  pods: true,
  short: { workloads: 40, lostWrites: 400 },
  full: { workloads: 300, lostWrites: 3_000 },
  async run(trial, { workloads, lostWrites }) {
    const { cluster } = trial.operator;
    const fleet = await trial.fleet(workloads);
    await fleet.bench.activate(fleet.namespace);
    await trial.rest();
    const backup = `${cluster.dir}/etcd-backup`;
    await cluster.whileDown((data) => cpSync(data, backup, { recursive: true }));
    await fleet.bench.changeLumigo(fleet.namespace, { spec: { logging: { enabled: true } } });
    await write(fleet, lostWrites);
    await someTurns(trial.random, fleet);
    const sincePlanned = withoutLumigoes(trial);
    await cluster.whileDown((data) => {
      rmSync(data, { recursive: true });
      cpSync(backup, data, { recursive: true });
    });
    await trial.countFromHere();
    await sincePlanned;
    await changeAfterwards(trial, fleet);
  },
});

async function write(fleet: Fleet, times: number): Promise<void> {
  const name = fleet.names[0] ?? '';
  for (let count = 0; count < times; count += 1)
    await fleet.bench.client.patch(fleet.ref(name), {
      kind: 'merge',
      body: { metadata: { annotations: { written: String(count) } } },
    });
}

/** The workloads as they were before are seen first, and the Lumigo is still the later one to whoever goes by what they knew. */
async function withoutLumigoes({ proxy }: Trial): Promise<void> {
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

async function changeAfterwards(trial: Trial, fleet: Fleet): Promise<void> {
  // Each by itself: the deletion of a Lumigo that was seen before would hide that the workloads are not.
  await fleet.create('born-afterwards');
  await trial.rest(10_000);
  await fleet.bench.changeLumigo(fleet.namespace, { spec: { tracing: { enabled: false } } });
  await trial.rest();
}
