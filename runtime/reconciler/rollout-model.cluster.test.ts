import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { setTimeout as sleep } from 'node:timers/promises';
import { fuzzBySeed, fuzzTimeoutMs } from '../../sandbox/testing/fuzz.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { RolloutWorld } from '../../sandbox/testing/rollout-world.ts';
import { annotations } from '../contract.ts';

/**
 * Whatever a namespace's users, its pods and the machines do, in whatever order: sandbox/testing/rollout-judge.ts says what must
 * never be seen, at any moment, and docs/use/rollout.md where all of it ends.
 */
let operator: OperatorBench;
beforeAll(async () => {
  operator = await startOperator({
    settings: { rollout: { soakSeconds: 1, deadlineSeconds: 60 } },
    controllerManager: false,
    apiServerFlags: ['--disable-admission-plugins=ServiceAccount'],
  });
});
afterAll(() => operator?.stop());

const names = ['a', 'b', 'c', 'd'] as const;

/** What is known of the world before it is changed: of each workload whether it is there. */
interface Model {
  readonly there: Set<string>;
  isManaged: boolean;
  hasLumigo: boolean;
}
type Command = fc.AsyncCommand<Model, RolloutWorld>;

interface Row {
  /** May be done to a model; left out: to any. */
  readonly may?: (model: Model, name: string) => boolean;
  /** What it makes of the model. */
  readonly then?: (model: Model, name: string) => void;
  readonly run: (world: RolloutWorld, name: string) => Promise<void>;
}

const isThere = ({ there }: Model, name: string): boolean => there.has(name);
const kubelet = (outcome: Parameters<RolloutWorld['pods']>[0]): Row => ({ run: (world) => world.pods(outcome) });
let versions = 0;

/** What can happen; a name twice happens twice as often. */
const rows: Readonly<Record<string, Row>> = {
  'pods become ready': kubelet('ready'),
  'and ready again': kubelet('ready'),
  'the injector cannot be pulled': kubelet('no-injector-image'),
  'programs crash': kubelet('crashes'),
  'one crashes late': { may: isThere, run: (world, name) => world.pods('crashes', (each) => each === name) },
  'pods get no readier': kubelet('unready'),
  'time passes': { run: () => sleep(1_500) },
  'a workload is made': {
    may: (model, name) => !isThere(model, name),
    then: ({ there }, name) => void there.add(name),
    run: (world, name) => world.create(name),
  },
  'a workload goes': {
    may: isThere,
    then: ({ there }, name) => void there.delete(name),
    run: (world, name) => world.delete(name),
  },
  'its user changes the template': {
    may: isThere,
    run: (world, name) => {
      versions += 1;
      const template = { metadata: { annotations: { version: `${versions}` } } };
      return world.edit(name, { spec: { template } }, { releasedAt: Date.now() });
    },
  },
  'somebody asks for another try': {
    may: isThere,
    run: (world, name) => {
      versions += 1;
      const body = { metadata: { annotations: { [annotations.retry]: `${versions}` } } };
      return world.edit(name, body, { releasedAt: Date.now() });
    },
  },
  'it is paused': {
    may: isThere,
    run: (world, name) => world.edit(name, { spec: { paused: true } }, { blockedSince: Date.now() }),
  },
  'it goes on': {
    may: isThere,
    run: (world, name) => world.edit(name, { spec: { paused: false } }, { blockedSince: undefined }),
  },
  'it fails by itself': { may: isThere, run: (world, name) => world.ail(name, true) },
  'a budget allows nothing': { run: (world) => world.budget(0) },
  'a budget allows one': { run: (world) => world.budget(1) },
  'the operator is killed': {
    may: ({ isManaged }) => isManaged,
    then: (model) => void (model.isManaged = false),
    run: (world) => world.kill(),
  },
  'an operator starts': {
    may: ({ isManaged }) => !isManaged,
    then: (model) => void (model.isManaged = true),
    run: (world) => world.start(),
  },
  'the Lumigo goes': {
    may: ({ isManaged, hasLumigo }) => isManaged && hasLumigo,
    then: (model) => void (model.hasLumigo = false),
    run: (world) => world.deleteLumigo(),
  },
  'there is a Lumigo again': {
    may: ({ isManaged, hasLumigo }) => isManaged && !hasLumigo,
    then: (model) => void (model.hasLumigo = true),
    run: (world) => world.makeLumigo(),
  },
};

const command = (what: string, { may, then, run }: Row, name: string): Command => ({
  check: (model) => may?.(model, name) ?? true,
  async run(model, world) {
    then?.(model, name);
    await run(world, name);
    expect(world.judge.violations).toEqual([]);
  },
  toString: () => `${what} (${name})`,
});

const commands = fc.commands(
  Object.entries(rows).map(([what, row]) => fc.constantFrom(...names).map((name) => command(what, row, name))),
  { maxCommands: 20, size: 'max' },
);

it(
  'F58: whatever happens, few are affected, what was put back is as it was and stays so, and in the end each is where it belongs',
  async () => {
    const property = fc.asyncProperty(commands, async (cmds) => {
      const world = await RolloutWorld.make(operator, names);
      try {
        const model = { there: new Set<string>(names), isManaged: true, hasLumigo: true };
        await fc.asyncModelRun(() => ({ model, real: world }), cmds);
        await world.rest();
      } finally {
        await world.end();
      }
      expect(world.judge.violations).toEqual([]);
    });
    await fuzzBySeed(15, (seed) => fc.assert(property, { seed, numRuns: 1, endOnFailure: true }));
  },
  fuzzTimeoutMs,
);
