import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import pino from 'pino';
import { freePorts } from '../../sandbox/control-plane/processes.ts';
import { apply, toRef } from '../../sandbox/manager/apply.ts';
import { runCommand, runInContainer } from '../../sandbox/manager/command.ts';
import { OtlpSink } from '../../sandbox/otlp-sink/sink.ts';
import { install, withoutNodes, type Installation } from '../../sandbox/manager/install.ts';
import { startManager, type Manager } from '../../sandbox/manager/manager.ts';
import { operatorRequests } from '../../sandbox/testing/audit.ts';
import { eventually, nextSecond, waitForRest } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { environment, lumigo, originalLease, workloadKinds } from '../contract.ts';
import type { Client } from '../kubernetes/http/client.ts';
import type { LeaseSpec } from '../kubernetes/lease/plan-lease.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { getLease } from './installation.ts';
import { findLeader, waitForEndOfOriginal } from './leader.ts';

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
  // The older installation is the one of an earlier second.
  await nextSecond();
  const [webhookPort = 0] = await freePorts(1);
  installed = await install(cluster.client, { settings: { ...withoutNodes, ...other }, webhook: webhookPort });
  second = await startManager(cluster, installed, {
    name: 'second-0',
    webhookPort,
    // Its leader would issue its certificate, and it has none while it stands by.
    config: { ...config, certificatesDirectory: '' },
    awaitsReady: false,
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
    replicas: 1,
    readyReplicas: availableReplicas,
    availableReplicas,
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
  it('stands by, reports it by its log and an event, and is ready for a tool that replaces one [F71]', async () => {
    await eventually(() =>
      expect(readFileSync(second.logFile, 'utf8')).toContain(
        'another installation of the Lumigo operator is active in this cluster (lumigo-system/lumigo-lumigo-operator)',
      ),
    );
    await eventually(async () => {
      const events = await operator.testCluster.events(other.namespace, 'second-controller-manager');
      expect(events).toMatchObject([{ reason: 'LumigoOperatorStandsBy', type: 'Warning' }]);
    });
    await eventually(async () => expect((await second.readiness()).status).toBe(200));
  });

  it('is named by the commands, which answer for the active one and ignore a forged Deployment', async () => {
    // An editor can create one, but not the webhook configuration of an installation.
    const { labels = {} } = getManager(operator.installation).metadata;
    const forged = createWorkload(deployment, shop, 'forged-controller-manager', { labels });
    await operator.testCluster.create(forged);
    const asUser = (...args: string[]) => runCommand([...args, '--kubeconfig', operator.cluster.kubeconfig], {});
    const both = `More than one Lumigo operator is installed. lumigo-system/lumigo-lumigo-operator acts. Standing by: ${other.namespace}/${other.name}. Remove`;
    const explained = await asUser('explain', 'deployment/cart', '-n', shop);
    expect(explained).toMatchObject({ code: 0, stderr: expect.stringContaining(both) });
    expect(explained.stdout).not.toContain('Sends to');
    expect((await asUser('check')).stdout).toContain(both);
    expect(await asUser('uninstall')).toMatchObject({ code: 1, stderr: expect.stringContaining(both) });
    await operator.cluster.client.delete(toRef(forged));
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
    const inShop = () => requests().filter(({ objectRef }) => objectRef?.namespace === shop);
    await eventually(() => expect(new Set(inShop().map(({ verb }) => verb))).toEqual(new Set(['get'])));
    expect(await holder()).toBeUndefined();
  });

  it('refuses `helm delete`, which would delete the Lumigo resources of both', async () => {
    const { cluster } = operator;
    const annotations = { 'meta.helm.sh/release-name': 'second' };
    await cluster.client.patch(toRef(getManager(installed)), { kind: 'merge', body: { metadata: { annotations } } });
    const refused = await runInContainer(cluster, installed, ['uninstall', '--deadline', '20', '--helm-hook']);
    const why = '`helm delete` would delete the Lumigo resources of both';
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(why) });
  });

  it('removes nothing of the first when it is uninstalled itself [F71]', async () => {
    const { testCluster, cluster } = operator;
    const uninstalled = await runInContainer(cluster, installed, ['uninstall', '--deadline', '20']);
    expect(uninstalled).toMatchObject({ code: 0, stderr: '' });
    expect(uninstalled.stdout).toContain('Another installation of the Lumigo operator is in this cluster');
    expect(await testCluster.isInstrumented(deployment, shop, 'cart')).toBe(true);
    expect((await testCluster.readLumigo(shop)).metadata.deletionTimestamp).toBeUndefined();
  });
});

/** The times at which the API server received the operator's status of the `Lumigo` in the namespace. */
const rewrites = (): readonly number[] =>
  operatorRequests(operator.cluster, operator.installation)
    .filter(({ verb, objectRef = {}, responseStatus }) => {
      const { resource, subresource, namespace } = objectRef;
      const isStatus = verb === 'patch' && resource === lumigo.plural && subresource === 'status';
      return isStatus && namespace === shop && responseStatus?.code === 200;
    })
    .map(({ requestReceivedTimestamp }) => Date.parse(requestReceivedTimestamp));

describe('a status that another writer overwrites', () => {
  it('is written again, later each time, and the log says so [F71]', async () => {
    const { testCluster, cluster } = operator;
    const ref = { ...lumigo, namespace: shop, name: 'lumigo', subresource: 'status' } as const;
    // A rewrite that also changes something else would begin the waits anew.
    await waitForRest(async () => (await testCluster.readLumigo(shop)).status, 2_000);
    const times: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const before = rewrites().length;
      await cluster.client.patch(ref, { kind: 'merge', body: { status: { instrumentedResourcesCount: 99 } } });
      const isWritten = async () =>
        expect((await testCluster.readLumigo(shop)).status?.instrumentedResourcesCount).not.toBe(99);
      await eventually(isWritten);
      // The audit log is written a moment after the answer.
      await eventually(() => expect(rewrites().length).toBeGreaterThan(before));
      times.push(rewrites().at(-1) ?? 0);
    }
    const [, second = 0, third = 0] = times;
    // A contested write waits for two seconds, and the next one for four.
    expect(third - second).toBeGreaterThan(3_000);
    expect(readFileSync(operator.manager().logFile, 'utf8')).toContain(
      'another client changes the status of the Lumigo resource',
    );
  });
});

describe('a second installation that stands by', () => {
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

const clocks = ['1970-01-01T00:00:00.000000Z', '2999-01-01T00:00:00.000000Z'] as const;
const getMicroTime = () => new Date().toISOString().replace('Z', '000Z');

const leaseType = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };

/** Each test has its own Lease. */
async function createLease(operatorName: string, given: LeaseSpec) {
  const installed = { operatorName, operatorNamespace: 'default' };
  const ref = getLease(installed);
  const metadata = { name: ref.name, namespace: ref.namespace };
  const spec = { holderIdentity: 'pod-1', leaseDurationSeconds: 2, ...given };
  await operator.cluster.client.create({ ...ref, name: undefined }, { ...leaseType, metadata, spec });
  const renew = (renewTime: string, leaseTransitions: number) =>
    operator.cluster.client.patch(ref, { kind: 'merge', body: { spec: { renewTime, leaseTransitions } } });
  return { installed, renew };
}

describe('a leader', () => {
  it.each<[string, string, () => LeaseSpec, string | undefined]>([
    ['is found by a fresh Lease, which need not change', 'fresh', () => ({ renewTime: getMicroTime() }), 'pod-1'],
    ['is absent if its holder has released the Lease', 'released', () => ({ holderIdentity: '' }), undefined],
    ['is absent if an old Lease does not change', 'old', () => ({ renewTime: clocks[0] }), undefined],
    ['is absent if a Lease of the future does not change', 'future', () => ({ renewTime: clocks[1] }), undefined],
  ])('%s', async (_title, operatorName, given, expected) => {
    const { installed } = await createLease(operatorName, given());
    expect(await findLeader(operator.cluster.client, installed)).toBe(expected);
  });

  it.each(clocks)('is found by a Lease that changes, with the time %s', async (renewTime) => {
    const { installed, renew } = await createLease(`live-${renewTime.slice(0, 4)}`, { renewTime });
    let found: string | undefined | false = false;
    const finding = findLeader(operator.cluster.client, installed).then((leader) => (found = leader));
    for (let transitions = 1; found === false; transitions += 1) await renew(renewTime, transitions);
    expect(await finding).toBe('pod-1');
  });

  it('is absent without a Lease', async () => {
    const none = { operatorName: 'none', operatorNamespace: 'default' };
    expect(await findLeader(operator.cluster.client, none)).toBeUndefined();
  });
});

const leaseOfOriginal = (namespace: string) => ({ ...kinds.leases, namespace, name: originalLease });
const spec = (holderIdentity: string, leaseDurationSeconds: number) => ({
  holderIdentity,
  leaseDurationSeconds,
  renewTime: getMicroTime(),
});

const renew = (namespace: string, holder = 'original-0') =>
  operator.cluster.client.patch(leaseOfOriginal(namespace), { kind: 'merge', body: { spec: spec(holder, 10) } });

function waitIn(namespace: string) {
  let over = false;
  let said = '';
  let checks = 0;
  const find: Client['find'] = (...asked) => {
    checks += 1;
    return operator.cluster.client.find(...asked);
  };
  void waitForEndOfOriginal({
    client: { ...operator.cluster.client, find },
    installed: { operatorName: 'lumigo-lumigo-operator', operatorNamespace: namespace },
    signal: new AbortController().signal,
    logger: pino({}, { write: (line: string) => void (said += line) }),
  }).then(() => (over = true));
  return { isOver: () => over, said: () => said, checks: () => checks };
}

async function led(seconds: number): Promise<string> {
  const namespace = await operator.testCluster.namespace('taken-over');
  const metadata = { namespace, name: originalLease };
  await operator.testCluster.create({ ...leaseType, metadata, spec: spec('original-0', seconds) } as never);
  return namespace;
}

describe('a namespace with an original operator [F51]', () => {
  it('lets this operator wait while the Lease is renewed, and begin when it has expired', async () => {
    const namespace = await led(10);
    const waiting = waitIn(namespace);
    for (let round = 0; round < 5; round += 1) {
      await renew(namespace);
      const before = waiting.checks();
      await eventually(() => expect(waiting.checks()).toBeGreaterThan(before));
      expect(waiting.isOver()).toBe(false);
    }
    await eventually(() => expect(waiting.isOver()).toBe(true));
  });

  it('lets this operator begin as soon as the Lease is released, which is then deleted', async () => {
    const namespace = await led(60);
    const waiting = waitIn(namespace);
    await eventually(() => expect(waiting.said()).toContain('the original operator is still the leader'));
    await renew(namespace, '');
    await eventually(() => expect(waiting.isOver()).toBe(true));
    await expect(operator.cluster.client.get(leaseOfOriginal(namespace))).rejects.toThrow('not found');
  });
});
