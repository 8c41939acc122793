import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { setTimeout as sleep } from 'node:timers/promises';
import { operatorVersion } from '../../infra/settings/version.ts';
import { fuzzBySeed, fuzzTimeoutMs } from '../../sandbox/testing/fuzz.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { RolloutWorld, worldSettings, type Version } from '../../sandbox/testing/rollout-world.ts';
import { REPLICAS } from '../../sandbox/testing/workloads.ts';
import { annotations } from '../contract.ts';

/** sandbox/testing/rollout-judge.ts has what must never happen, and docs/use/rollout.md how all of it ends. */
const build = (number: number): string => `${operatorVersion()}+${number}`;
const now: Version = { version: build(1), image: 'injector:1' };
const config = { version: now.version, injectorImage: now.image };

let operator: OperatorBench;
beforeAll(async () => {
  operator = await startOperator({
    settings: worldSettings,
    config,
    apiServerFlags: ['--disable-admission-plugins=ServiceAccount'],
  });
});
afterAll(() => operator?.stop());

const names = ['a', 'b', 'c', 'd'] as const;

interface Model {
  readonly there: Set<string>;
  isManaged: boolean;
  hasLumigo: boolean;
  isNeighbourTraced: boolean;
}
type Command = fc.AsyncCommand<Model, RolloutWorld>;

interface Row {
  readonly may?: (model: Model, name: string) => boolean;
  readonly then?: (model: Model, name: string) => void;
  readonly run: (world: RolloutWorld, name: string) => Promise<void>;
}

const isThere = ({ there }: Model, name: string): boolean => there.has(name);
let versions = 0;

const happens = (run: (world: RolloutWorld, name: string) => void): Row => ({
  run: (world, name) => Promise.resolve(run(world, name)),
});

const starts = (version?: Version): Row => ({
  may: ({ isManaged }) => !isManaged,
  then: (model) => void (model.isManaged = true),
  run: (world) => world.start(version),
});

const edits = (body: () => object, more: () => object = () => ({})): Row => ({
  may: isThere,
  run: (world, name) => world.edit(name, body(), more()),
});

const releases = () => ({ releasedAt: Infinity });
const metadataWith = (key: string) => {
  versions += 1;
  return { metadata: { annotations: { [key]: `${versions}` } } };
};

/** A repeated row happens more often. */
const rows: Readonly<Record<string, Row>> = {
  'all programs run': happens((world) => world.allPrograms({})),
  'the injector can be pulled': happens((world) => world.image(true)),
  'the injector cannot be pulled': happens((world) => world.image(false)),
  'programs crash with the injection': happens((world) => world.allPrograms({ injected: 'crashes' })),
  'programs are not ready with the injection': happens((world) => world.allPrograms({ injected: 'unready' })),
  'one crashes with the injection': happens((world, name) => world.program(name, { injected: 'crashes' })),
  'it fails by itself': happens((world, name) => world.program(name, { injected: 'unready', clean: 'unready' })),
  'its user asks for another try': edits(() => metadataWith(annotations.retry), releases),
  'its user changes the template': edits(() => ({ spec: { template: metadataWith('version') } }), releases),
  'it is paused': edits(
    () => ({ spec: { paused: true } }),
    () => ({ pausedSince: Date.now() }),
  ),
  'it goes on': edits(
    () => ({ spec: { paused: false } }),
    () => ({ pausedSince: undefined }),
  ),
  'it is scaled to zero': edits(
    () => ({ spec: { replicas: 0 } }),
    () => ({ hasReplicas: false }),
  ),
  'it is scaled up': edits(
    () => ({ spec: { replicas: REPLICAS } }),
    () => ({ hasReplicas: true }),
  ),
  'a tenant forges': { may: isThere, run: (world, name) => world.forge(name) },
  'and forges again': { may: isThere, run: (world, name) => world.forge(name) },
  'time passes': { run: () => sleep(1_500) },
  'more time passes': { run: () => sleep(5_000) },
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
  'a neighbour turns tracing on': {
    may: ({ isManaged, isNeighbourTraced }) => isManaged && !isNeighbourTraced,
    then: (model) => void (model.isNeighbourTraced = true),
    run: (world) => world.traceNeighbour(),
  },
  'the operator is killed': {
    may: ({ isManaged }) => isManaged,
    then: (model) => void (model.isManaged = false),
    run: (world) => world.kill(),
  },
  'an operator starts': starts(),
  'an operator of the next version starts': starts({ version: build(2), image: now.image }),
  'an operator with another injector starts': starts({ version: build(3), image: 'injector:2' }),
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
  'affects few workloads, reverts exactly and settles, whatever happens around it [F58]',
  async () => {
    const property = fc.asyncProperty(commands, async (cmds) => {
      const world = await RolloutWorld.make(operator, now, names);
      try {
        const model = { there: new Set<string>(names), isManaged: true, hasLumigo: true, isNeighbourTraced: false };
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
