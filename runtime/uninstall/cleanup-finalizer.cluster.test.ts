import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from '../../infra/constructs/manifest.ts';
import { toInstance } from '../../infra/constructs/labels.ts';
import { freePorts } from '../../sandbox/control-plane/processes.ts';
import { apply, toRef } from '../../sandbox/manager/apply.ts';
import { runCommand } from '../../sandbox/manager/command.ts';
import { install, type Installation } from '../../sandbox/manager/install.ts';
import { ensureBinaries } from '../../sandbox/programs/build.ts';
import { destroy, waitForDeletion } from '../../sandbox/testing/destroy.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import {
  protection,
  installedAs,
  instrumentedAndProtected,
  waitForProtected,
} from '../../sandbox/testing/protection.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { cleanupFinalizer, labels, lumigo, workloadKinds } from '../contract.ts';
import { undefinedIfNotFound } from '../kubernetes/http/errors.ts';
import type { ResourceRef } from '../kubernetes/http/paths.ts';
import { getAccount, protectedObjects } from './protected-objects.ts';

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

const { deployment } = workloadKinds;

const foreign = 'example.com/another-controller';
const getLumigo = (namespace: string): ResourceRef => ({ ...lumigo, namespace, name: 'lumigo' });

const find = ({ manifests }: Installation, kind: string): Manifest => {
  const found = manifests.find((manifest) => manifest.kind === kind);
  if (found === undefined) throw new Error(`the installation has no ${kind}`);
  return found;
};

const finalizersOfDeleted = (ref: ResourceRef) =>
  eventually(async () => {
    const { deletionTimestamp, finalizers } = (await operator.cluster.client.get(ref)).metadata;
    expect(deletionTimestamp).toBeDefined();
    return finalizers;
  });

const setFinalizers = (ref: ResourceRef, finalizers: readonly string[]) =>
  operator.cluster.client.patch(ref, { kind: 'merge', body: { metadata: { finalizers } } });

describe('the cleanup finalizer in a removal', () => {
  afterEach(() => operator.reinstall());

  it('keeps the operator able to clean up if Argo CD deletes its objects wave by wave [D42, F41]', async () => {
    const { testCluster, cluster, installation } = operator;
    const namespace = await instrumentedAndProtected(operator);
    const alone = await testCluster.namespace('alone');
    await testCluster.create(createWorkload(deployment, alone, 'app', { labels: { [labels.autoTrace]: 'true' } }));
    await testCluster.waitForInstrumented(deployment, alone, 'app');
    const getWave = ({ metadata }: Manifest): number =>
      Number(metadata.annotations?.['argocd.argoproj.io/sync-wave'] ?? '0');
    const waves = [1, 0, -1].map((wave) => installation.manifests.filter((each) => getWave(each) === wave));
    expect(waves.flat().length).toBe(installation.manifests.length);
    await destroy(cluster, waves, () => operator.stopManager());
    for (const each of [namespace, alone])
      expect(await testCluster.isInstrumented(deployment, each, 'app')).toBe(false);
    expect(await testCluster.label(deployment, alone, 'app')).toBe('true');
    await cluster.client.delete({ ...deployment, namespace: alone, name: 'app' });
  });

  it('delays a removal only while the manager runs, also if a workload refuses or an owner goes too [D42]', async () => {
    const { testCluster, cluster, installation } = operator;
    const namespace = await instrumentedAndProtected(operator);
    const relent = await operator.refuseChanges(namespace, { app: 'app' });
    const account = getAccount(installedAs(installation));
    // OLM owns the account.
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owner', namespace: account.namespace } };
    const { uid } = (await apply(cluster.client, owner)).metadata;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }];
    await cluster.client.patch(account, { kind: 'merge', body: { metadata: { ownerReferences } } });
    // The guard is in another file, which is deleted later.
    const isGuard = ({ kind }: Manifest) => kind.startsWith('ValidatingAdmissionPolicy');
    const others = installation.manifests.filter((each) => !isGuard(each));
    const guard = installation.manifests.filter(isGuard);
    await destroy(cluster, [[owner, ...others], guard], () => operator.stopManager());
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(true);
    await relent();
  });

  it('is released from any machine by a command that names foreign finalizers [D42, F44]', async () => {
    const { testCluster, cluster, installation } = operator;
    const namespace = await instrumentedAndProtected(operator);
    await operator.killManager();
    const account = getAccount(installedAs(installation));
    // OLM creates the account without labels.
    const metadata = { labels: { 'app.kubernetes.io/part-of': null }, finalizers: [cleanupFinalizer, foreign] };
    await cluster.client.patch(account, { kind: 'merge', body: { metadata } });
    const removal = destroy(cluster, [installation.manifests], () => Promise.resolve());
    await finalizersOfDeleted(account);
    const args = ['uninstall', '--deadline', '60', '--kubeconfig', cluster.kubeconfig];
    try {
      const { code, stdout, stderr } = await runCommand(args, {});
      const stuck = `ServiceAccount ${account.namespace}/${account.name}: finalizers of other controllers keep it: ${foreign}`;
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(stuck) });
      expect(stdout).toMatch(/Released ClusterRole \S+\.\nReleased ClusterRoleBinding \S+\.\n$/);
      expect(await finalizersOfDeleted(account)).toEqual([foreign]);
    } finally {
      await setFinalizers(account, []);
      await removal;
    }
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(false);
  });
});

/** Returns the commands in a section of docs/operate/uninstall.md, which need only kubectl. */
function documentedLines(heading: string, language = 'sh'): readonly string[] {
  const [, section = ''] = readFileSync('docs/operate/uninstall.md', 'utf8').split(`## ${heading}\n`);
  const blocks = (section.split('\n## ')[0] ?? '').matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'));
  const lines = [...blocks].flatMap(([, block = '']) => block.trim().split('\n'));
  return lines.map((line) => line.trim());
}

function inShell(line: string): void {
  const { kubeconfig, dir } = operator.cluster;
  const env = { PATH: `${programs}:/usr/bin:/bin`, KUBECONFIG: kubeconfig, HOME: dir };
  const { status, stderr } = spawnSync('sh', ['-c', line], { env, encoding: 'utf8', timeout: 60_000 });
  expect({ line, status, stderr }).toEqual({ line, status: 0, stderr: '' });
}

describe('a removal that is stuck', () => {
  it('is released by three lines of kubectl, and the operator can be installed again [F44]', async () => {
    const { testCluster, cluster, installation } = operator;
    const shop = await testCluster.instrumented('shop');
    const bank = await testCluster.instrumented('bank');
    await setFinalizers(getLumigo(bank), [foreign, lumigo.finalizer]);
    await waitForProtected(operator, true);
    await operator.killManager();
    // The webhook stays, so that it is in the way. Kubernetes deletes some objects with their namespace first.
    const deleted = installation.manifests.filter(({ kind }) => kind !== 'MutatingWebhookConfiguration');
    for (const manifest of deleted) await cluster.client.delete(toRef(manifest)).catch(undefinedIfNotFound);
    for (const ref of protectedObjects(installedAs(installation)))
      expect(await finalizersOfDeleted(ref)).toEqual([cleanupFinalizer]);
    expect(await finalizersOfDeleted(getLumigo(shop))).toEqual([lumigo.finalizer]);
    await finalizersOfDeleted(getLumigo(bank));

    const lines = documentedLines('A removal that is stuck');
    expect(lines).toHaveLength(3);
    lines.forEach(inShell);

    // The commands release only the operator's finalizers, not foreign ones.
    expect(await finalizersOfDeleted(getLumigo(bank))).toEqual([foreign]);
    await setFinalizers(getLumigo(bank), []);
    for (const manifest of installation.manifests) await waitForDeletion(cluster, manifest);
    const injected = () => Promise.all([shop, bank].map((each) => testCluster.isInstrumented(deployment, each, 'app')));
    expect(await injected()).toEqual([true, true]);

    await operator.reinstall();
    await eventually(async () => expect(await injected()).toEqual([false, false]));
  });
});

describe('one of two installations', () => {
  /** No node ends pods here, so `onPodsDeleted` stops them. Another object stays in the namespace. */
  async function removeAsDocumented(installation: Installation, onPodsDeleted: () => Promise<void>): Promise<void> {
    const { cluster } = operator;
    const { name, namespace } = installation.settings;
    const instance = toInstance(installation.settings);
    const foreign = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'foreign', namespace } };
    await apply(cluster.client, foreign);
    const [ofPods = '', ...others] = documentedLines('Remove one of two installations', 'console').map((line) =>
      line.replace('=INSTANCE', `=${instance}`).replace(' NAMESPACE', ` ${namespace}`),
    );
    inShell(ofPods);
    await onPodsDeleted();
    others.forEach(inShell);
    const left = installation.manifests.filter(({ metadata }) => metadata.name.startsWith(name));
    for (const manifest of left) await waitForDeletion(cluster, manifest);
    const stays = [foreign, find(installation, 'Namespace')].map((each) => cluster.client.get(toRef(each)));
    for (const { metadata } of await Promise.all(stays)) expect(metadata.deletionTimestamp).toBeUndefined();
  }

  it('is removed as documented, and the Lumigo resources and injections stay', async () => {
    const { testCluster, cluster, installation } = operator;
    const namespace = await instrumentedAndProtected(operator);
    const settings = { name: 'second', namespace: 'lumigo-second' };
    const [webhook = 0] = await freePorts(1);
    const second = await install(cluster.client, { settings, webhook });
    await removeAsDocumented(installation, () => operator.stopManager());
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(true);
    expect((await testCluster.readLumigo(namespace)).metadata.deletionTimestamp).toBeUndefined();
    await removeAsDocumented(second, () => Promise.resolve());
    await operator.reinstall();
    await testCluster.deleteLumigo(namespace);
  });
});

describe('the cleanup finalizer on the operator’s account and rights', () => {
  it('exists while there is a Lumigo or an opt-in by label to clean up', async () => {
    const { testCluster } = operator;
    await waitForProtected(operator, false);
    const namespace = await instrumentedAndProtected(operator);
    await testCluster.deleteLumigo(namespace);
    await waitForProtected(operator, false);
    await testCluster.create(
      createWorkload(deployment, namespace, 'alone', { labels: { [labels.autoTrace]: 'true' } }),
    );
    await waitForProtected(operator, true);
  });

  it('is removed with the last manager, so that nothing waits for a missing one', async () => {
    await instrumentedAndProtected(operator);
    const another = await operator.startAnother();
    await operator.stopManager();
    await eventually(async () => {
      if ((await another.metric('lumigo_operator_leader')) !== 1) throw new Error('the other one does not lead yet');
    });
    await waitForProtected(operator, true);
    await another.stop();
    expect(await protection(operator)).toEqual([false, false, false]);
    await operator.startManager();
  });

  it('removes no injection if only the account or only the Deployment was deleted', async () => {
    const { testCluster, cluster, installation } = operator;
    const namespace = await instrumentedAndProtected(operator);
    const deployed = find(installation, 'Deployment');
    await cluster.client.delete(toRef(deployed));
    await operator.stopManager();
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(true);
    await apply(cluster.client, deployed);
    await operator.startManager();
    await waitForProtected(operator, true);
    await cluster.client.delete(toRef(find(installation, 'ServiceAccount')));
    await operator.stopManager();
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(true);
    expect((await testCluster.readLumigo(namespace)).metadata.deletionTimestamp).toBeUndefined();
  });
});
