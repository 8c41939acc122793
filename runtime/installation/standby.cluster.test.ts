import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../../sandbox/control-plane/processes.ts';
import { apply, toRef } from '../../sandbox/manager/apply.ts';
import { runCommand, runInContainer } from '../../sandbox/manager/command.ts';
import { OtlpSink } from '../../sandbox/otlp-sink/sink.ts';
import { install, withoutNodes, type Installation } from '../../sandbox/manager/install.ts';
import { startManager, type Manager } from '../../sandbox/manager/manager.ts';
import { operatorRequests } from '../../sandbox/testing/audit.ts';
import { eventually, waitForRest } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { environment, lumigo, workloadKinds } from '../contract.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';

let sink: OtlpSink;
let operator: OperatorBench;
let second: Manager;
let installed: Installation;
let shop: string;
const { deployment } = workloadKinds;
const other = { name: 'second', namespace: 'lumigo-second' };

beforeAll(async () => {
  // Without an answer about its token, the status of a Lumigo changes once more after 30 s.
  sink = await OtlpSink.start();
  const config = { endpoint: sink.url };
  operator = await startOperator({ audit: true, controllerManager: false, settings: withoutNodes, config });
  await setAvailable(1);
  const { testCluster, cluster } = operator;
  shop = await testCluster.namespace('shop');
  await testCluster.activate(shop);
  await testCluster.create(createWorkload(deployment, shop, 'cart'));
  // The API server orders installations by whole seconds.
  await sleep(1_100);
  const [webhookPort = 0] = await freePorts(1);
  installed = await install(cluster.client, { settings: { ...withoutNodes, ...other }, webhook: webhookPort });
  // Its leader would issue its certificate, and it has none while it stands by.
  const withoutFile = { ...config, certificatesDirectory: '' };
  second = await startManager(cluster, installed, {
    ...{ name: 'second-0', webhookPort, config: withoutFile, awaitsReady: false },
  });
});
afterAll(async () => {
  await second?.stop();
  await operator?.stop();
  await sink?.close();
});

const getManager = ({ manifests }: Installation) => {
  const found = manifests.find(({ kind }) => kind === 'Deployment');
  if (found === undefined) throw new Error('the installation has no Deployment');
  return found;
};

/** No pod runs here, so the test writes the status of the first installation's Deployment. */
const setAvailable = (availableReplicas: number): Promise<void> =>
  operator.testCluster.setStatus(toRef(getManager(operator.installation)), {
    ...{ replicas: 1, readyReplicas: availableReplicas, availableReplicas },
  });

const leaseOfSecond = { ...kinds.leases, namespace: other.namespace, name: 'second-leader' };

const holder = async (): Promise<string | undefined> => {
  const found = await operator.cluster.client.find(leaseOfSecond);
  return (found as { spec?: { holderIdentity?: string } } | undefined)?.spec?.holderIdentity;
};

const toEndpoint = async (name: string): Promise<string | undefined> => {
  const { spec } = await operator.testCluster.toTemplate(deployment, shop, name);
  return spec.containers[0]?.env?.find(({ name: variable }) => variable === environment.endpoint)?.value;
};

describe('a second installation', () => {
  it('stands by, and reports it by its log and an event [F71]', async () => {
    await eventually(() =>
      expect(readFileSync(second.logFile, 'utf8')).toContain(
        'another installation of the Lumigo operator is active in this cluster (lumigo-system/lumigo-lumigo-operator)',
      ),
    );
    await eventually(async () => {
      const events = await operator.testCluster.events(other.namespace, 'second-controller-manager');
      expect(events).toMatchObject([{ reason: 'LumigoOperatorStandsBy', type: 'Warning' }]);
    });
  });

  it('is ready while it stands by, because a tool that replaces an installation waits for it', async () => {
    await eventually(async () => expect((await second.readiness()).status).toBe(200));
  });

  it('is named by the commands, which answer for the active one', async () => {
    const asUser = (...args: string[]) => runCommand([...args, '--kubeconfig', operator.cluster.kubeconfig], {});
    const both =
      'More than one Lumigo operator is installed. lumigo-system/lumigo-lumigo-operator acts, and ' +
      `${other.namespace}/${other.name} stands by`;
    const explained = await asUser('explain', 'deployment/cart', '-n', shop);
    expect(explained).toMatchObject({ code: 0, stderr: expect.stringContaining(both) });
    expect(explained.stdout).not.toContain('Sends to');
    expect((await asUser('check')).stdout).toContain(both);
    expect(await asUser('uninstall')).toMatchObject({ code: 1, stderr: expect.stringContaining(both) });
  });

  it('changes no workload and writes no status while the first is available [F71]', async () => {
    const { testCluster, cluster } = operator;
    await testCluster.create(createWorkload(deployment, shop, 'later'));
    for (const name of ['cart', 'later']) {
      await testCluster.waitForInstrumented(deployment, shop, name);
      expect(await toEndpoint(name)).toContain('http://lumigo-lumigo-operator-');
    }
    await eventually(async () =>
      expect((await testCluster.readLumigo(shop)).status?.instrumentedResources).toHaveLength(2),
    );
    const requests = () => operatorRequests(cluster, installed);
    const looks = () => requests().filter(({ objectRef }) => objectRef?.resource === 'deployments').length;
    // It has learned of both workloads by its next look at the first installation.
    const looked = looks();
    await eventually(() => expect(looks()).toBeGreaterThan(looked));
    const inShop = requests().filter(({ objectRef }) => objectRef?.namespace === shop);
    expect(new Set(inShop.map(({ verb }) => verb))).toEqual(new Set(['get']));
    expect(await holder()).toBeUndefined();
  });

  it('removes nothing of the first when it is uninstalled itself [F71]', async () => {
    const { testCluster, cluster } = operator;
    const uninstalled = await runInContainer(cluster, installed, ['uninstall', '--deadline', '20']);
    expect(uninstalled).toMatchObject({ code: 0, stderr: '' });
    expect(uninstalled.stdout).toContain('Another installation of the Lumigo operator is in this cluster');
    expect(await testCluster.isInstrumented(deployment, shop, 'cart')).toBe(true);
    expect((await testCluster.readLumigo(shop)).metadata.deletionTimestamp).toBeUndefined();
  });

  it('takes over when the first is uninstalled, and instruments by its own settings [F71]', async () => {
    const { testCluster, cluster } = operator;
    await operator.stopManager();
    await cluster.client.delete(toRef(getManager(operator.installation)));
    await eventually(async () => expect(await holder()).toBe('second-0'), { timeoutMs: 20_000 });
    await testCluster.create(createWorkload(deployment, shop, 'moved'));
    await testCluster.waitForInstrumented(deployment, shop, 'moved');
    expect(await toEndpoint('moved')).toContain('http://second-');
  });

  it('stops leading when the first is available again [F71]', async () => {
    await apply(operator.cluster.client, getManager(operator.installation));
    await setAvailable(1);
    await operator.startManager();
    await eventually(async () => expect(await holder()).toBe(''), { timeoutMs: 20_000 });
    await eventually(async () => expect(await operator.metric('lumigo_operator_leader')).toBe(1), {
      timeoutMs: 30_000,
    });
  });
});

describe('a status that another writer overwrites', () => {
  it('is written at most once a second, and less often each time [F71]', async () => {
    const { testCluster, cluster } = operator;
    const ref = { ...lumigo, namespace: shop, name: 'lumigo', subresource: 'status' } as const;
    const contradiction = { kind: 'merge', body: { status: { instrumentedResourcesCount: 99 } } } as const;
    // A new leader writes its own results, and each is a status of its own.
    const version = async () => (await testCluster.readLumigo(shop)).metadata.resourceVersion;
    await testCluster.waitForCondition(shop, 'Ready', { status: 'True' });
    await waitForRest(version, 6_000);
    await cluster.client.patch(ref, contradiction);
    await eventually(async () =>
      expect((await testCluster.readLumigo(shop)).status?.instrumentedResourcesCount).not.toBe(99),
    );
    const writes: number[] = [];
    const until = performance.now() + 10_000;
    for (let seen = ''; performance.now() < until; await sleep(20)) {
      const { status, metadata } = await testCluster.readLumigo(shop);
      if (status?.instrumentedResourcesCount === 99 || metadata.resourceVersion === seen) continue;
      writes.push(performance.now());
      seen = (await cluster.client.patch(ref, contradiction)).object.metadata.resourceVersion;
    }
    // The first write is the unchanged status. The others follow after waits that double.
    const gaps = writes.slice(1).map((at, index) => at - (writes[index] ?? 0));
    expect(writes.length).toBeGreaterThanOrEqual(2);
    expect(writes.length).toBeLessThanOrEqual(5);
    for (const gap of gaps.slice(1)) expect(gap).toBeGreaterThan(900);
    expect(readFileSync(operator.manager().logFile, 'utf8')).toContain(
      'another client changes the status of the Lumigo resource',
    );
  });
});
