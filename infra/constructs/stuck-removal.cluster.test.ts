import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { awaitDefinition } from '../../sandbox/manager/install.ts';
import { cleanupFinalizer, lumigo, workloadKinds } from '../../runtime/contract.ts';
import type { ResourceRef } from '../../runtime/kubernetes/http/paths.ts';
import { protectedObjects } from '../../runtime/uninstall/protected-objects.ts';
import { apply, toRef } from '../../sandbox/manager/apply.ts';
import { ensureBinaries } from '../../sandbox/programs/build.ts';
import { waitForDeletion } from '../../sandbox/testing/destroy.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import type { Manifest } from './manifest.ts';

/** Runs the commands of docs/operate/uninstall.md, which need only kubectl. */
let operator: OperatorBench;
let programs = '';
beforeAll(async () => {
  operator = await startOperator();
  const { kubectl = '' } = await ensureBinaries(['kubectl']);
  programs = join(operator.cluster.dir, 'programs');
  mkdirSync(programs);
  symlinkSync(kubectl, join(programs, 'kubectl'));
});
afterAll(() => operator?.stop());

function documentedLines(): readonly string[] {
  const text = readFileSync('docs/operate/uninstall.md', 'utf8');
  const [, section = ''] = text.split('## A removal that is stuck\n');
  return (/```sh\n(.*?)```/s.exec(section)?.[1] ?? '').trim().split('\n');
}

function inShell(line: string): void {
  const { kubeconfig, dir } = operator.cluster;
  const env = { PATH: `${programs}:/usr/bin:/bin`, KUBECONFIG: kubeconfig, HOME: dir };
  const { status, stderr } = spawnSync('sh', ['-c', line], { env, encoding: 'utf8' });
  expect({ line, status, stderr }).toEqual({ line, status: 0, stderr: '' });
}

const { deployment } = workloadKinds;
const foreign = 'example.com/another-controller';
const isWebhook = ({ kind }: Manifest): boolean => kind === 'MutatingWebhookConfiguration';
/** The webhook stays, so that it is in the way. */
const deleted = (): readonly Manifest[] => operator.installation.manifests.filter((manifest) => !isWebhook(manifest));
const getLumigo = (namespace: string): ResourceRef => ({ ...lumigo, namespace, name: 'lumigo' });

function held(): readonly ResourceRef[] {
  const { name, namespace } = operator.installation.settings;
  return protectedObjects({ operatorName: name, operatorNamespace: namespace });
}

const getFinalizers = async (ref: ResourceRef) => (await operator.cluster.client.get(ref)).metadata.finalizers;

const finalizersOfDeleted = (ref: ResourceRef) =>
  eventually(async () => {
    const { deletionTimestamp, finalizers } = (await operator.cluster.client.get(ref)).metadata;
    expect(deletionTimestamp).toBeDefined();
    return finalizers;
  });

const setFinalizers = (ref: ResourceRef, finalizers: readonly string[]) =>
  operator.cluster.client.patch(ref, { kind: 'merge', body: { metadata: { finalizers } } });

async function removeWithoutManager(): Promise<void> {
  for (const ref of held()) await eventually(async () => expect(await getFinalizers(ref)).toContain(cleanupFinalizer));
  await operator.killManager();
  for (const manifest of deleted()) await operator.cluster.client.delete(toRef(manifest));
  for (const ref of held()) expect(await finalizersOfDeleted(ref)).toEqual([cleanupFinalizer]);
}

async function installAgain(): Promise<void> {
  const { client } = operator.cluster;
  for (const manifest of deleted()) {
    await apply(client, manifest);
    if (manifest.kind === 'CustomResourceDefinition') await awaitDefinition(client);
  }
  await operator.startManager();
}

describe('a removal that is stuck', () => {
  it('is released by three lines of kubectl, and the operator can be installed again [F44]', async () => {
    const { testCluster, cluster, installation } = operator;
    const [shop, bank] = [await testCluster.instrumented('shop'), await testCluster.instrumented('bank')];
    await setFinalizers(getLumigo(bank), [foreign, lumigo.finalizer]);
    await removeWithoutManager();
    expect(await finalizersOfDeleted(getLumigo(shop))).toEqual([lumigo.finalizer]);
    await finalizersOfDeleted(getLumigo(bank));

    const lines = documentedLines();
    expect(lines).toHaveLength(3);
    lines.forEach(inShell);

    // The commands release only the operator's finalizers, not foreign ones.
    expect(await getFinalizers(getLumigo(bank))).toEqual([foreign]);
    await setFinalizers(getLumigo(bank), []);
    for (const manifest of installation.manifests) await waitForDeletion(cluster, manifest);
    const injected = () => Promise.all([shop, bank].map((each) => testCluster.isInstrumented(deployment, each, 'app')));
    expect(await injected()).toEqual([true, true]);

    await installAgain();
    await eventually(async () => expect(await injected()).toEqual([false, false]));
  });
});
