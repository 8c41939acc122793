import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { Plugin } from 'esbuild';
import type { Changes } from '../../sandbox/manager/configuration.ts';
import { startManager, type Manager } from '../../sandbox/manager/manager.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { mutableKinds, createWorkload } from '../../sandbox/testing/workloads.ts';
import { bundle } from '../../infra/release/bundle.ts';
import { workloadKinds, type WorkloadKind } from '../contract.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { getInjectionStatus, removeInjectionStatus } from './injection-status.ts';

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

const { deployment, daemonSet } = workloadKinds;
const all: readonly (readonly [WorkloadKind, string])[] = [
  ...mutableKinds.map(([, kind]) => [kind, `a-${kind.plural}`] as const),
  [deployment, 'owner'],
];
const createManifest = (namespace: string, [kind, name]: readonly [WorkloadKind, string]) =>
  createWorkload(kind, namespace, name, name === 'owner' ? { env: [{ name: variable, value: 'mine' }] } : {});
const changed = ['a-deployments', 'owner'];
const image = '/spec/template/spec/containers/0/image';
const nextImage = { kind: 'json', operations: [{ op: 'replace', path: image, value: 'app:2' }] } as const;

let operator: OperatorBench;
let testCluster: OperatorBench['testCluster'];
let later: Manager | undefined;
/** `shop` and `gone` are instrumented, a later release removes from `gone`, and `outside` stays clean. */
let shop: string;
let gone: string;
let outside: string;

beforeAll(async () => {
  await bundle(program, laterRelease);
  // An upgrade installs the guard of its own release, which knows the variable.
  operator = await startOperator({ controllerManager: false, settings: { guard: 'None' } });
  ({ testCluster } = operator);
  [shop, gone, outside] = [
    await testCluster.namespace('shop'),
    await testCluster.namespace('gone'),
    await testCluster.namespace('outside'),
  ];
  await testCluster.activate(shop);
  await testCluster.activate(gone);
  for (const namespace of [shop, gone, outside])
    for (const each of all) await testCluster.create(createManifest(namespace, each));
  await waitForEvents(['LumigoAddedInstrumentation']);
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

const getReasons = (name: string) => testCluster.reasons(shop, name);

const waitForEvents = (reasons: readonly string[]) =>
  eventually(async () => {
    for (const [, name] of all) expect([name, await getReasons(name)]).toEqual([name, reasons]);
  });

/** A Deployment's generation counts its annotations, and so each injection status. */
const seen = (injectionStatuses = 0) =>
  Promise.all(
    all.map(async ([kind, name]) => {
      const { generation = 0 } = (await testCluster.get(kind, shop, name)).metadata;
      const template = await testCluster.toTemplate(kind, shop, name);
      return { name, template, generation: kind === deployment ? generation - injectionStatuses : generation };
    }),
  );

const valueIn = async (kind: WorkloadKind, name: string, from = shop) =>
  (await testCluster.toTemplate(kind, from, name)).spec.containers[0]?.env?.findLast((each) => each.name === variable)
    ?.value;

async function lookedAt(keep: true | undefined): Promise<void> {
  const injection = { removeLumigoFromResourcesOnDeletion: keep !== true };
  await testCluster.changeLumigo(shop, { spec: { tracing: { injection } } });
  await eventually(async () => {
    for (const [kind, name] of all)
      expect([name, getInjectionStatus((await testCluster.get(kind, shop, name)).metadata)?.keep]).toEqual([
        name,
        keep,
      ]);
  });
}

async function expectClean(namespace: string): Promise<void> {
  for (const [kind, name] of all)
    expect([name, await testCluster.toTemplate(kind, namespace, name)]).toEqual([
      name,
      await testCluster.toTemplate(kind, outside, name),
    ]);
}

describe('a release that injects one variable more [F13]', () => {
  it('changes no pod template and writes no event', async () => {
    const before = await seen();
    await operator.stopManager();
    await startLater();
    await lookedAt(true);
    expect(await seen(1)).toEqual(before);
    await waitForEvents(['LumigoAddedInstrumentation']);
    // In 'shop' the CronJob is new to this leader, and the webhook may wait until it is judged.
    const fresh = await testCluster.namespace('fresh');
    await testCluster.activate(fresh);
    await testCluster.waitForWebhook(fresh);
    await testCluster.create(createWorkload(deployment, fresh, 'new'));
    expect(await valueIn(deployment, 'new', fresh)).toBe('ours');
  });

  it('keeps what a tool applies again [F23]', async () => {
    const before = await seen();
    for (const [kind, name] of all) {
      // A controller may write the status between the two requests.
      await eventually(async () => {
        const { metadata } = await testCluster.get(kind, shop, name);
        const clean = { ...createManifest(shop, [kind, name]), metadata: removeInjectionStatus(metadata) };
        await testCluster.client.update({ ...kind, namespace: shop, name }, clean as Parameters<Client['update']>[1]);
      });
    }
    expect(await seen()).toEqual(before);
    await waitForEvents(['LumigoAddedInstrumentation']);
  });

  it('renews what its user changes', async () => {
    for (const name of changed) {
      await testCluster.client.patch({ ...deployment, namespace: shop, name }, nextImage);
      expect(await valueIn(deployment, name)).toBe('ours');
    }
    expect(await valueIn(daemonSet, 'a-daemonsets')).toBeUndefined();
  });

  it('removes the earlier injection exactly', async () => {
    await testCluster.deleteLumigo(gone);
    await eventually(() => expectClean(gone));
  });

  it('renews all if the settings ask for it', async () => {
    await later?.stop();
    await startLater({ updateOnUpgrade: true });
    await eventually(async () => {
      for (const [kind, name] of all) expect([name, await valueIn(kind, name)]).toEqual([name, 'ours']);
    });
  });
});

describe('the release before, after a rollback [F13]', () => {
  it('changes no pod template, and removes the variable that it does not know', async () => {
    await later?.stop();
    const before = await seen();
    await operator.startManager();
    await lookedAt(undefined);
    expect(await seen(1)).toEqual(before);
    await testCluster.deleteLumigo(shop);
    for (const name of changed) await testCluster.client.patch({ ...deployment, namespace: outside, name }, nextImage);
    await eventually(() => expectClean(shop));
  });
});
