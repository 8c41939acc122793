import { eventually } from '../../testing/eventually.ts';
import type { Fleet } from '../fleet.ts';
import { startOtherWebhook } from '../other-webhook.ts';
import { refuseEvents } from '../refuse-events.ts';
import { scenarioOf, type Trial } from '../scenario.ts';
import { beginInstrumenting, deleteLumigo, flagAtRandom, whenInstrumented } from '../steps.ts';

const sizes = { short: { workloads: 40 }, full: { workloads: 300 } };

/** Beside another namespace at work, on a machine that has other work, it may take this many times what it takes alone. */
const SLOWER = 4;
const MOMENT_MS = 5_000;

/** How long a namespace takes by itself; afterwards it is as before. */
async function timeAlone(trial: Trial, fleet: Fleet): Promise<number> {
  const ms = await instrument(fleet);
  await trial.rest();
  await deleteLumigo(trial, fleet);
  await trial.rest();
  return ms;
}

async function instrument(fleet: Fleet): Promise<number> {
  await fleet.bench.lumigo(fleet.namespace);
  return whenInstrumented(fleet, fleet.size);
}

/** The neighbour of a namespace in trouble is served as fast as ever. */
async function judgeSpeed(trial: Trial, neighbour: Fleet, aloneMs: number): Promise<void> {
  const ms = await instrument(neighbour);
  trial.figure('ms alone', aloneMs);
  trial.figure('ms beside the trouble', ms);
  if (ms > aloneMs * SLOWER + MOMENT_MS) trial.broken(`a neighbour waited ${ms} ms for what takes ${aloneMs} ms alone`);
}

export const namespaceDeleted = scenarioOf({
  name: 'namespace-deleted',
  holds: 'a namespace that is deleted in mid-flight goes, and its neighbours are served at full speed',
  ...sizes,
  async run(trial, { workloads }) {
    const [doomed, neighbour] = [await trial.fleet(workloads), await trial.fleet(workloads)];
    const aloneMs = await timeAlone(trial, neighbour);
    await beginInstrumenting(trial, doomed);
    const { client } = trial.operator.cluster;
    const namespace = { group: '', version: 'v1', plural: 'namespaces', name: doomed.namespace };
    await client.delete(namespace);
    doomed.forget();
    await judgeSpeed(trial, neighbour, aloneMs);
    await eventually(
      async () => {
        if ((await client.find(namespace)) !== undefined) throw new Error('still there');
      },
      { timeoutMs: 60_000, intervalMs: 500 },
    ).catch(() => trial.broken('the namespace was still there a minute after its deletion'));
  },
});

const frozen = { frozen: 'true' };

export const changesRefused = scenarioOf({
  name: 'changes-refused',
  holds: 'workloads whose every update is refused hold up neither their own namespace nor others',
  ...sizes,
  async run(trial, { workloads }) {
    const [troubled, neighbour] = [await trial.fleet(workloads), await trial.fleet(workloads)];
    await troubled.fill(Math.ceil(workloads / 4), { labels: frozen }, 'frozen');
    const aloneMs = await timeAlone(trial, neighbour);
    const relent = await trial.operator.refuseChanges(troubled.namespace, frozen);
    for (const name of troubled.names) if (name.startsWith('frozen')) troubled.exempt.add(name);
    try {
      await troubled.bench.lumigo(troubled.namespace);
      await judgeSpeed(trial, neighbour, aloneMs);
      trial.figure('ms for the others of its namespace', await whenInstrumented(troubled, workloads));
      await flagAtRandom(trial, neighbour);
      await trial.rest();
      judgeRefusals(trial, troubled);
    } finally {
      await relent();
    }
  },
});

/** Each refusal is told once, and tried again less and less often. */
function judgeRefusals(trial: Trial, { namespace, exempt }: Fleet): void {
  const { posts, requests } = trial.history();
  const warnings = posts.filter((post) => post.namespace === namespace && post.isWarning).length;
  const tries = requests.filter(
    (request) => request.namespace === namespace && request.verb === 'patch' && exempt.has(request.name),
  ).length;
  trial.figure('frozen workloads', exempt.size);
  trial.figure('tries of them', tries);
  trial.figure('warnings about them', warnings);
  if (warnings !== exempt.size) trial.broken(`${warnings} warnings about ${exempt.size} workloads that are refused`);
}

export const eventsRefused = scenarioOf({
  name: 'events-refused',
  holds: 'F7: a namespace that refuses events holds up neither its own workloads nor others',
  ...sizes,
  async run(trial, { workloads }) {
    const [troubled, neighbour] = [await trial.fleet(workloads), await trial.fleet(workloads)];
    const aloneMs = await timeAlone(trial, neighbour);
    const relent = await refuseEvents(trial.operator.cluster.client, troubled.namespace);
    troubled.isTold = false;
    try {
      await troubled.bench.lumigo(troubled.namespace);
      await whenInstrumented(troubled, Math.min(workloads, 16));
      await judgeSpeed(trial, neighbour, aloneMs);
      trial.figure('ms more for its own workloads', await whenInstrumented(troubled, workloads));
    } finally {
      await relent();
    }
  },
});

export const otherWebhook = scenarioOf({
  name: 'other-webhook',
  holds: 'another webhook that adds and reorders containers, called before ours or after it, causes no more writes',
  ...sizes,
  async run(trial, { workloads }) {
    const { client } = trial.operator.cluster;
    for (const name of ['a-somebody-else', 'z-somebody-else']) {
      const fleet = await trial.fleet(0);
      const end = await startOtherWebhook(client, fleet.namespace, name);
      try {
        await fleet.fill(workloads);
        await fleet.bench.activate(fleet.namespace);
        await trial.rest();
        await fleet.bench.changeLumigo(fleet.namespace, { spec: { logging: { enabled: true } } });
        await trial.rest();
        await deleteLumigo(trial, fleet);
        await trial.rest();
      } finally {
        await end();
      }
    }
  },
});
