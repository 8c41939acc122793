import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { labels, workloadKinds } from '../../runtime/contract.ts';
import { undefinedIfNotFound } from '../../runtime/kubernetes/http/errors.ts';
import { toolOn } from '../e2e/tools.ts';
import { getLumigo, getSecret } from '../lumigo.ts';
import { readAudit, type AuditEntry } from '../testing/audit.ts';
import { eventually } from '../testing/eventually.ts';
import { startOperator, type OperatorBench } from '../testing/operator.ts';
import { validToken } from '../testing/test-cluster.ts';
import { createWorkload, type WorkloadOptions } from '../testing/workloads.ts';
import { documented, type Documented } from './documented.ts';
import { Flux } from './flux.ts';
import { getWrites } from './writes.ts';

const { deployment } = workloadKinds;
const namespace = 'shop';
const folder = 'clusters/production/shop';
let operator: OperatorBench;
let flux: Flux;
/** A Kustomization of a namespace of its own. */
let waiting: Documented;

beforeAll(async () => {
  operator = await startOperator({ audit: true });
  flux = await Flux.start(operator.cluster, await toolOn(operator.cluster, 'kubectl'));
  const [source, , shop] = documented('install/gitops.md', 'Flux') as readonly [Documented, Documented, Documented];
  commit({ namespace: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, before: own('before') });
  flux.apply({ ...source, spec: { ...source.spec, url: flux.url } });
  flux.apply({ ...shop, spec: { ...shop.spec, dependsOn: [] } });
  waiting = { ...shop, spec: { ...shop.spec, dependsOn: [], path: './clusters/production/waiting' } };
}, 600_000);
afterAll(async () => {
  await flux?.stop();
  await operator?.stop();
});

function commit(objects: Readonly<Record<string, object | undefined>>): void {
  flux.repository.write(folder, objects);
  flux.repository.commit('the shop changes');
}

const workload = (name: string, options: WorkloadOptions = {}, kind = deployment) =>
  createWorkload(kind, namespace, name, options);
const preload = (value: string) => ({ name: 'LD_PRELOAD', value });
const own = (name: string, library = '/own.so') => workload(name, { env: [preload(library)] });

const lumigo = getLumigo(namespace);
const secret = getSecret(namespace, validToken);

async function synced(): Promise<void> {
  const [said] = await flux.sync('shop');
  expect(said).toMatchObject({ ready: 'True' });
}

const isOfWorkload = ({ objectRef }: AuditEntry): boolean =>
  objectRef?.resource !== 'events' && objectRef?.namespace === namespace;

async function writesDuring(action: () => Promise<void>): Promise<readonly string[]> {
  const before = readAudit(operator.cluster).length;
  await action();
  return getWrites(readAudit(operator.cluster).slice(before).filter(isOfWorkload));
}

/** Waits until the Lumigo's list has changed too, so that later writes have another cause. */
async function instrumented(name: string, expected = true): Promise<void> {
  await operator.testCluster.waitForInstrumented(deployment, namespace, name, expected);
  await eventually(async () => {
    const found = await operator.testCluster.readLumigo(namespace).catch(undefinedIfNotFound);
    const listed = found?.status?.instrumentedResources?.map((each) => each.name) ?? [];
    if (found !== undefined) expect(listed.includes(name)).toBe(expected);
  });
}

async function findPreload(name: string): Promise<string | undefined> {
  const { spec } = await operator.testCluster.toTemplate(deployment, namespace, name);
  return spec.containers[0]?.env?.find((variable) => variable.name === 'LD_PRELOAD')?.value;
}

const injector = '/opt/lumigo/injector/lumigo_injector.so';

describe('workloads that Flux applies', () => {
  it('are instrumented if they existed before their Lumigo, and later syncs write nothing', async () => {
    await synced();
    await instrumented('before', false);
    commit({ secret, lumigo });
    await synced();
    await instrumented('before');
    expect(await findPreload('before')).toBe(`/own.so:${injector}`);
    expect(
      await writesDuring(async () => {
        await synced();
        await synced();
      }),
    ).toEqual([]);
  });

  it('get the injection in the write that creates them, and the next sync writes nothing', async () => {
    commit({ after: own('after'), plain: workload('plain') });
    const writes = await writesDuring(synced);
    expect(writes.filter((write) => write.endsWith('/after'))).toEqual(['flux: patch deployments shop/after']);
    await instrumented('after');
    await instrumented('plain');
    expect(await writesDuring(synced)).toEqual([]);
  });

  it.each(['before', 'after'])(
    'follow a commit in one write and one generation, with the injection: %s',
    async (name) => {
      const { metadata } = await operator.testCluster.get(deployment, namespace, name);
      commit({ [name]: own(name, '/another.so') });
      const writes = await writesDuring(synced);
      expect(writes.filter((write) => write.endsWith(`/${name}`))).toEqual([`flux: patch deployments shop/${name}`]);
      expect(await findPreload(name)).toBe(`/another.so:${injector}`);
      const now = await operator.testCluster.get(deployment, namespace, name);
      expect((now.metadata as unknown as { generation: number }).generation).toBe(
        (metadata as unknown as { generation: number }).generation + 1,
      );
      commit({ [name]: workload(name) });
      await synced();
      expect(await findPreload(name)).toBe(injector);
      commit({ [name]: own(name) });
      await synced();
      expect(await writesDuring(synced)).toEqual([]);
    },
  );

  it('opt out by a commit, and in again', async () => {
    commit({ plain: workload('plain', { labels: { [labels.autoTrace]: 'false' } }) });
    await synced();
    await instrumented('plain', false);
    expect(await writesDuring(synced)).toEqual([]);
    commit({ plain: workload('plain') });
    await synced();
    await instrumented('plain');
    expect(await writesDuring(synced)).toEqual([]);
  });

  it('are written a few times while the webhook is down, and not once it answers', async () => {
    const writes = await writesDuring(async () => {
      await operator.withoutWebhook(async () => {
        await synced();
        await eventually(async () => expect(await findPreload('after')).toBe(`/own.so:${injector}`));
        await synced();
      });
      await eventually(async () => expect(await findPreload('after')).toBe(`/own.so:${injector}`), {
        timeoutMs: 60_000,
      });
    });
    const about = (name: string) => writes.filter((write) => write.endsWith(`/${name}`)).length;
    expect(about('plain')).toBe(0);
    // For each of two syncs: Flux's write, the injection, and a write by which the operator owns no field of it.
    expect(about('after')).toBeLessThanOrEqual(6);
    const later = await writesDuring(synced);
    expect(later.filter((write) => write.includes(' deployments '))).toEqual([]);
  });

  it('opt in by their label without a Lumigo, and out again', async () => {
    const opted = (value: string) => ({
      ...workload('lone'),
      metadata: { namespace: 'lone', name: 'lone', labels: { [labels.autoTrace]: value } },
    });
    const isInstrumented = (expected: boolean) =>
      operator.testCluster.waitForInstrumented(deployment, 'lone', 'lone', expected);
    commit({ lone: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'lone' } }, opted: opted('true') });
    await synced();
    await isInstrumented(true);
    const before = await operator.testCluster.get(deployment, 'lone', 'lone');
    await synced();
    const after = await operator.testCluster.get(deployment, 'lone', 'lone');
    expect(after.metadata.labels).toEqual(before.metadata.labels);
    commit({ opted: opted('false') });
    await synced();
    await isInstrumented(false);
  });

  it('are clean when a commit deletes their Lumigo, and the next sync writes nothing', async () => {
    commit({ lumigo: undefined });
    await synced();
    for (const name of ['before', 'after', 'plain']) await instrumented(name, false);
    expect(await findPreload('after')).toBe('/own.so');
    expect(await writesDuring(synced)).toEqual([]);
  });
});

describe('a Kustomization that waits', () => {
  const team = 'team';
  const write = (objects: Readonly<Record<string, object>>): void => {
    flux.repository.write('clusters/production/waiting', objects);
    flux.repository.commit('the team changes');
  };

  it('is ready once the Secret of its Lumigo exists', async () => {
    const { testCluster } = operator;
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: team } };
    write({ namespace, lumigo: getLumigo(team) });
    flux.apply({ ...waiting, metadata: { ...waiting.metadata, name: team } });
    const synced = flux.sync(team);
    await eventually(async () => {
      const { status } = await testCluster.readLumigo(team);
      expect(status?.conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'False' }));
    });
    expect((await flux.readStatus('kustomization', team)).ready).toMatchObject({ status: 'Unknown' });
    await testCluster.secret(team, validToken);
    expect(await synced).toMatchObject([{ ready: 'True' }]);
  });

  it('fails at once beside a second Lumigo, with the reason', async () => {
    write({ second: getLumigo(team, {}, 'second') });
    expect(await flux.sync(team)).toMatchObject([{ ready: 'False', message: expect.stringContaining('second') }]);
  });
});
