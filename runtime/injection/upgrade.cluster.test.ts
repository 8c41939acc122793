import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { Plugin } from 'esbuild';
import type { Changes } from '../../sandbox/manager/configuration.ts';
import { startManager, type Manager } from '../../sandbox/manager/manager.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { mutableKinds, createWorkload } from '../../sandbox/testing/workloads.ts';
import { bundle } from '../../infra/release/bundle.ts';
import { getInjectionStatus } from './injection-status.ts';

const variable = 'LUMIGO_OF_LATER';
const program = 'dist/later-release/main.js';
const anotherRow = `\n  { name: '${variable}', since: 2, write: () => ({ value: 'ours' }) },\n];\n`;

const laterRelease: Plugin = {
  name: 'one-variable-more',
  setup({ onLoad }) {
    onLoad({ filter: /injection\/variables\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      if (source.split('\n];\n').length !== 2) throw new Error(`${path} holds no table, or more than one`);
      return { contents: source.replace('\n];\n', () => anotherRow), loader: 'ts' };
    });
  },
};

/** One of each kind, with and without a variable of that name. */
const all = mutableKinds.flatMap(([, kind]) => [
  { kind, name: `plain-${kind.plural}`, env: [] },
  { kind, name: `owner-${kind.plural}`, env: [{ name: variable, value: 'mine' }] },
]);

let operator: OperatorBench;
let testCluster: OperatorBench['testCluster'];
let later: Manager | undefined;
/** `shop` is instrumented by the present release, and `outside` is never. */
let shop: string;
let outside: string;

beforeAll(async () => {
  await bundle(program, laterRelease);
  // An upgrade installs the guard of its own release, which knows the variable.
  operator = await startOperator({ controllerManager: false, settings: { guard: 'None' } });
  ({ testCluster } = operator);
  shop = await testCluster.namespace('shop');
  outside = await testCluster.namespace('outside');
  await testCluster.activate(shop);
  for (const namespace of [shop, outside])
    for (const { kind, name, env } of all) await testCluster.create(createWorkload(kind, namespace, name, { env }));
  await eventually(expectOneEventEach);
});
afterAll(async () => {
  await later?.stop();
  await operator?.stop();
});

async function startLater(more: Changes = {}): Promise<void> {
  const { cluster, installation } = operator;
  const { webhookPort } = operator.manager();
  const config = { rolloutSoakSeconds: 0, ...more };
  later = await startManager(cluster, installation, { name: 'later', program, webhookPort, config });
}

async function expectOneEventEach(): Promise<void> {
  const reasons = await Promise.all(all.map(({ name }) => testCluster.reasons(shop, name)));
  expect(reasons).toEqual(all.map(() => ['LumigoAddedInstrumentation']));
}

const getTemplates = (namespace: string) =>
  Promise.all(all.map(({ kind, name }) => testCluster.toTemplate(kind, namespace, name)));

/** Changes the Lumigo in a way that makes the leader read each workload, and write only its injection status. */
async function waitUntilRead(keep: true | undefined): Promise<void> {
  const injection = { removeLumigoFromResourcesOnDeletion: keep !== true };
  await testCluster.changeLumigo(shop, { spec: { tracing: { injection } } });
  await eventually(async () => {
    const read = await Promise.all(all.map(({ kind, name }) => testCluster.get(kind, shop, name)));
    expect(read.map(({ metadata }) => getInjectionStatus(metadata)?.keep)).toEqual(all.map(() => keep));
  });
}

describe('a release that injects one variable more [F13]', () => {
  it('changes no pod template and writes no event', async () => {
    const before = await getTemplates(shop);
    await operator.stopManager();
    await startLater();
    await waitUntilRead(true);
    expect(await getTemplates(shop)).toEqual(before);
    await expectOneEventEach();
  });

  it('renews all if the settings ask for it', async () => {
    await later?.stop();
    await startLater({ updateOnUpgrade: true });
    await eventually(async () => {
      const containers = (await getTemplates(shop)).map(({ spec }) => spec.containers[0]);
      const values = containers.map((each) => each?.env?.findLast(({ name }) => name === variable)?.value);
      expect(values).toEqual(all.map(() => 'ours'));
    });
  });
});

describe('the release before, after a rollback [F13]', () => {
  it('changes no pod template, and removes the variable that it does not know', async () => {
    await later?.stop();
    const before = await getTemplates(shop);
    await operator.startManager();
    await waitUntilRead(undefined);
    expect(await getTemplates(shop)).toEqual(before);
    await testCluster.deleteLumigo(shop);
    expect(await getTemplates(shop)).toEqual(await getTemplates(outside));
  });
});
