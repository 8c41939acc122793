import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Manifest } from '../../infra/constructs/manifest.ts';
import { toInstance } from '../../infra/constructs/labels.ts';
import { freePorts } from '../../sandbox/control-plane/processes.ts';
import { startApiProxy, type ApiProxy } from '../../sandbox/faults/api-proxy.ts';
import { apply, toRef } from '../../sandbox/manager/apply.ts';
import { runCommand } from '../../sandbox/manager/command.ts';
import { install, type Installation } from '../../sandbox/manager/install.ts';
import { ensureBinaries } from '../../sandbox/programs/build.ts';
import { destroy, waitForDeletion } from '../../sandbox/testing/destroy.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { protection, instrumentedAndProtected, waitForProtected } from '../../sandbox/testing/protection.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { getToken } from '../../sandbox/testing/telemetry.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import type { PodTemplate } from '../api/objects.ts';
import { cleanupFinalizer, labels, lumigo, telemetryProxyFiles, workloadKinds } from '../contract.ts';
import { getManager } from '../installation/installation.ts';
import { undefinedIfNotFound } from '../kubernetes/http/errors.ts';
import type { ResourceRef } from '../kubernetes/http/paths.ts';
import { getAccount, protectedObjects } from './protected-objects.ts';

let operator: OperatorBench;
let proxy: ApiProxy;
let programs = '';
beforeAll(async () => {
  operator = await startOperator({ through: async (cluster) => (proxy = await startApiProxy(cluster)) });
  const { kubectl = '' } = await ensureBinaries(['kubectl']);
  programs = join(operator.cluster.dir, 'programs');
  mkdirSync(programs);
  symlinkSync(kubectl, join(programs, 'kubectl'));
});
afterAll(() => operator?.stop());

const { deployment, job } = workloadKinds;

const held = () => protectedObjects(operator.installation.config);

const foreign = 'example.com/another-controller';
const getLumigo = (namespace: string): ResourceRef => ({ ...lumigo, namespace, name: 'lumigo' });

const find = ({ manifests }: Installation, kind: string): Manifest => {
  const found = manifests.find((manifest) => manifest.kind === kind);
  if (found === undefined) throw new Error(`the installation has no ${kind}`);
  return found;
};

const withoutNamespace = ({ manifests }: Installation) => manifests.filter(({ kind }) => kind !== 'Namespace');

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
    const account = getAccount(installation.config);
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

  it('stays for 10 s after the last Lumigo, because the operator may be deleted next [ADR 84]', async () => {
    const { testCluster, cluster, installation } = operator;
    const namespace = await instrumentedAndProtected(operator);
    let noteDeleted = () => {};
    const deleted = new Promise<void>((resolve) => (noteDeleted = resolve));
    // An earlier release would be over for the role before the deletion, and too late for the others.
    proxy.interfere = ({ method, path }) =>
      method === 'PATCH' && path.includes('/clusterroles/') ? { holdAnswer: () => deleted } : undefined;
    await testCluster.deleteLumigo(namespace);
    await sleep(1_000);
    await destroy(cluster, [withoutNamespace(installation)], () => {
      noteDeleted();
      return operator.stopManager();
    });
    proxy.interfere = undefined;
  });

  it('waits for the deletion of the account after that of the Deployment [ADR 84]', async () => {
    const { testCluster, cluster, installation } = operator;
    const namespace = await instrumentedAndProtected(operator);
    await cluster.client.delete(toRef(find(installation, 'Deployment')));
    const stopped = operator.stopManager();
    await sleep(2_000);
    await destroy(cluster, [withoutNamespace(installation)], () => stopped);
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(false);
  });

  it('is released from any machine by a command that names foreign finalizers [D42, F44]', async () => {
    const { testCluster, cluster, installation } = operator;
    const namespace = await instrumentedAndProtected(operator);
    await operator.killManager();
    const account = getAccount(installation.config);
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
    for (const ref of held()) expect(await finalizersOfDeleted(ref)).toEqual([cleanupFinalizer]);
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

describe('an operator whose namespace was deleted', () => {
  afterAll(() => operator.reinstall());

  it('leaves nothing but cluster-wide objects, which the documented lines delete [D42]', async () => {
    const { testCluster, cluster, installation } = operator;
    const namespace = await instrumentedAndProtected(operator);
    const own = find(installation, 'Namespace');
    await cluster.client.delete(toRef(own));
    await operator.stopManager();
    await waitForDeletion(cluster, own);
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(false);
    const stays = installation.manifests.filter(({ kind, metadata }) => kind !== 'Namespace' && !metadata.namespace);
    for (const manifest of stays) expect((await cluster.client.get(toRef(manifest))).metadata.name).not.toBe('');
    const lines = documentedLines('Remove the operator').filter((line) => line.startsWith('kubectl delete'));
    expect(lines).toHaveLength(2);
    lines.forEach(inShell);
    for (const manifest of installation.manifests) await waitForDeletion(cluster, manifest);
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
  afterAll(() => operator.reinstall());

  it('exists while there is a Lumigo or an opt-in by label to clean up', async () => {
    const { testCluster } = operator;
    await waitForProtected(operator, false);
    const namespace = await instrumentedAndProtected(operator);
    // A Job keeps its injection, so there is nothing to clean up.
    await testCluster.create(createWorkload(job, namespace, 'import'));
    await testCluster.waitForInstrumented(job, namespace, 'import');
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

describe('the role', () => {
  afterAll(async () => {
    await operator.stopManager();
    await operator.reinstall();
  });

  it('can be deleted by mistake after the last Lumigo, and the account stays [ADR 84]', async () => {
    const { testCluster, cluster, installation } = operator;
    const namespace = await instrumentedAndProtected(operator);
    const account = getAccount(installation.config);
    const { uid } = (await cluster.client.get(account)).metadata;
    await testCluster.deleteLumigo(namespace);
    // By then the operator waits for further deletions.
    await sleep(1_000);
    const [role] = held();
    const manifest = installation.manifests.find(
      ({ kind, metadata }) => kind === role?.kind && metadata.name === role.name,
    );
    await cluster.client.delete(toRef(manifest as Manifest));
    await waitForDeletion(cluster, manifest as Manifest);
    const { metadata } = await cluster.client.get(account);
    expect([metadata.uid, metadata.deletionTimestamp]).toEqual([uid, undefined]);
  });
});

const restartedAt = 'kubectl.kubernetes.io/restartedAt';

/** A rollback gives the Deployment to another operator and deletes the objects that this does not use. */
async function handOver(): Promise<void> {
  const body = { spec: { template: { spec: { serviceAccountName: 'another', serviceAccount: 'another' } } } };
  await operator.cluster.client.patch(getManager(operator.installation.config), { kind: 'merge', body });
}

async function deleteHeld(pauseMs = 0): Promise<void> {
  for (const ref of held().toReversed()) {
    await operator.cluster.client.delete(ref);
    await sleep(pauseMs);
  }
}

const waitForAllDeleted = (): Promise<void> =>
  eventually(
    async () => {
      const found = await Promise.all(held().map((ref) => operator.cluster.client.find(ref)));
      expect(found).toEqual([undefined, undefined, undefined]);
    },
    { timeoutMs: 60_000 },
  );

describe('an operator whose Deployment belongs to another one', () => {
  afterEach(async () => {
    proxy.interfere = undefined;
    await operator.stopManager();
    await operator.reinstall();
  });

  it('releases its account and rights, also if they are deleted meanwhile [F51]', async () => {
    await instrumentedAndProtected(operator);
    await handOver();
    let deleted: Promise<void> | undefined;
    // The operator reads its rights from before their deletion.
    proxy.interfere = ({ method, path }) =>
      method === 'GET' && path.includes('/clusterroles/')
        ? { holdAnswer: () => (deleted ??= deleteHeld()) }
        : undefined;
    await operator.stopManager();
    expect(deleted).toBeDefined();
    await waitForAllDeleted();
  });

  it('releases them if they are deleted one after the other while it runs [F51]', async () => {
    await instrumentedAndProtected(operator);
    await handOver();
    await deleteHeld(1_000);
    await waitForAllDeleted();
  });
});

describe('no removal', () => {
  it('is the deletion of its rights alone: they can return, and tokens stay accepted [F40]', async () => {
    const { testCluster, cluster, installation } = operator;
    const namespace = await instrumentedAndProtected(operator);
    const tokens = () =>
      readFileSync(join(cluster.dir, 'manager-0', 'telemetry-proxy', telemetryProxyFiles.tokens), 'utf8');
    await testCluster.secret(namespace, getToken(0x40));
    await testCluster.changeLumigo(namespace, { metadata: { annotations: { read: 'now' } } });
    await eventually(() => expect(tokens()).toContain(getToken(0x40)));
    const rights = held().filter((ref) => ref.kind !== 'ServiceAccount');
    const lost = installation.manifests.filter((each) =>
      rights.some(({ kind, name }) => each.kind === kind && each.metadata.name === name),
    );
    expect(lost.length).toBe(2);
    for (const each of lost) await cluster.client.delete(toRef(each));
    for (const each of lost) await waitForDeletion(cluster, each);
    let reads = 0;
    proxy.interfere = ({ path }) => {
      reads += Number(path.endsWith(`/namespaces/${namespace}/secrets/lumigo-credentials`));
      return undefined;
    };
    // The last one follows the answers to the others.
    await eventually(() => expect(reads).toBeGreaterThanOrEqual(4), { timeoutMs: 60_000 });
    proxy.interfere = undefined;
    expect(tokens()).toContain(getToken(0x40));
    for (const each of lost) await apply(cluster.client, each);
    await waitForProtected(operator, true, 90_000);
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(true);
  });

  it('is the deletion of its account alone: account and pods return, with new tokens [F40]', async () => {
    const { testCluster, cluster } = operator;
    const { client } = cluster;
    const namespace = await instrumentedAndProtected(operator);
    const own = operator.installation.config;
    const account = getAccount(own);
    const keepsakes = { labels: { theirs: 'kept' }, annotations: { 'example.com/theirs': 'kept' } };
    const body = { metadata: keepsakes, imagePullSecrets: [{ name: 'theirs' }] };
    await client.patch(account, { kind: 'merge', body });
    const before = await client.get(account);
    await client.delete(account);
    const after = await eventually(
      async () => {
        const found = await client.get(account);
        expect(found.metadata.uid).not.toBe(before.metadata.uid);
        const { spec } = (await client.get(getManager(own))) as { spec?: { template: PodTemplate } };
        expect(spec?.template.metadata?.annotations).toHaveProperty([restartedAt]);
        return found;
      },
      { timeoutMs: 40_000 },
    );
    expect(after.metadata).toMatchObject({ labels: before.metadata.labels, annotations: before.metadata.annotations });
    expect(after).toMatchObject({ imagePullSecrets: [{ name: 'theirs' }], automountServiceAccountToken: false });
    // The next version is applied without force.
    const labels = { ...before.metadata.labels, 'app.kubernetes.io/version': 'next' };
    const next = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account.name, labels } };
    await eventually(() => client.patch(account, { kind: 'apply', body: next }, { fieldManager: 'sandbox' }));
    // A rollout gives the new pod a token of the present account.
    await operator.stopManager();
    await operator.startManager();
    await waitForProtected(operator, true, 40_000);
    await testCluster.create(createWorkload(deployment, namespace, 'later'));
    await testCluster.waitForInstrumented(deployment, namespace, 'later');
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(true);
  });

  // This test is the last one, because it removes the operator.
  it('is a rename, which deletes the objects of the old name after it created the new ones [F43]', async () => {
    const { testCluster, cluster, installation } = operator;
    const namespace = await instrumentedAndProtected(operator);
    // Its webhook configuration proves the successor.
    const successor = await install(cluster.client, { settings: { name: 'successor' }, webhook: 'service' });
    const isKept = new Set(successor.manifests.map((each) => JSON.stringify(toRef(each))));
    const old = installation.manifests.filter((each) => !isKept.has(JSON.stringify(toRef(each))));
    expect(old.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['ServiceAccount', 'ClusterRole', 'Deployment']),
    );
    for (const each of old) await cluster.client.delete(toRef(each));
    await operator.stopManager();
    for (const each of old) await waitForDeletion(cluster, each);
    expect((await testCluster.readLumigo(namespace)).metadata.deletionTimestamp).toBeUndefined();
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(true);
  });
});
