import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { startApiProxy, type ApiProxy } from '../../sandbox/faults/api-proxy.ts';
import { applyDefinition, toRef } from '../../sandbox/manager/apply.ts';
import { startManager, writeCertificate } from '../../sandbox/manager/manager.ts';
import { freePorts } from '../../sandbox/control-plane/processes.ts';
import { validToken } from '../../sandbox/testing/test-cluster.ts';
import { waitForDeletion } from '../../sandbox/testing/destroy.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startTcpProxy } from '../../sandbox/testing/tcp-proxy.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { annotations, labels, lumigo, paths, suffixes, webhooks, workloadKinds, workloads } from '../contract.ts';
import { getLease } from '../installation/installation.ts';
import { listAll } from '../kubernetes/http/client.ts';
import type { Lease } from '../kubernetes/lease/plan-lease.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { getWebhooks } from '../kubernetes/resources/webhooks.ts';
import { issueServing } from '../certificates/issue.ts';

let operator: OperatorBench;
let proxy: ApiProxy;
beforeAll(async () => {
  operator = await startOperator({
    controllerManager: false,
    settings: { clusterCollection: { logs: { enabled: true } } },
    config: { logLevel: 'debug' },
    through: async (cluster) => (proxy = await startApiProxy(cluster)),
  });
});
afterEach(() => {
  proxy.interfere = undefined;
});
afterAll(() => operator?.stop());

const { deployment } = workloadKinds;
const validity = { now: new Date(), days: 2 };
const ownLease = () => getLease(operator.installation.config);
/** Another holder takes the Lease, and lets it expire. */
const endTerm = (renewed: object = {}) => {
  const spec = { holderIdentity: 'another', leaseDurationSeconds: 1, ...renewed };
  return operator.cluster.client.patch(ownLease(), { kind: 'merge', body: { spec } });
};

function servedSerial(): Promise<string> {
  return new Promise((resolve, reject) => {
    const { webhookPort: port } = operator.manager();
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    }).on('error', reject);
  });
}

const getSeries = async (): Promise<string> =>
  (await fetch(`http://127.0.0.1:${operator.manager().metricsPort}${paths.metrics}`)).text();

/** Adds a condition to the injector's rule, so that the API server never calls it. */
async function excludeAll(): Promise<void> {
  const { cluster, installation } = operator;
  const ref = { ...kinds.webhooks, name: `${installation.settings.name}-injector-webhook` };
  const index = getWebhooks(await cluster.client.get(ref)).findIndex(({ name }) => name === webhooks.injector);
  const path = `/webhooks/${index}/matchConditions/-`;
  const value = { name: 'never', expression: 'false' };
  await cluster.client.patch(ref, { kind: 'json', operations: [{ op: 'add', path, value }] });
}

const getNodeKey = () => {
  const { name, namespace } = operator.installation.settings;
  return { ...kinds.secrets, namespace, name: `${name}${suffixes.nodeCollector}` };
};

/** Starts as in a new cluster: no definition, and no Secret of the node collectors. Returns a function that creates the definition. */
async function startWithoutDefinition(): Promise<() => Promise<void>> {
  const { cluster, installation } = operator;
  const [definition] = installation.manifests.filter(({ kind }) => kind === 'CustomResourceDefinition');
  if (definition === undefined) throw new Error('the manifests have no definition');
  await eventually(() => cluster.client.get(getNodeKey()));
  await operator.stopManager();
  await cluster.client.delete(toRef(definition));
  await waitForDeletion(cluster, definition);
  await cluster.client.delete(getNodeKey());
  await operator.startManager();
  return () => applyDefinition(cluster.client, definition);
}

describe('a manager that starts before the definition of Lumigo resources exists', () => {
  it('is ready, campaigns again, creates the key of the node collectors, and works once there is one', async () => {
    const { cluster, testCluster } = operator;
    const { client } = cluster;
    const define = await startWithoutDefinition();
    const leads = async () =>
      expect(((await client.get(ownLease())) as Lease).spec?.holderIdentity).toBe(operator.manager().name);
    await eventually(leads, { timeoutMs: 30_000 });
    await endTerm();
    await eventually(leads, { timeoutMs: 30_000 });
    // The pods of the node collectors mount it. Pulumi waits for them before it creates the definition.
    await eventually(() => client.get(getNodeKey()), { timeoutMs: 30_000 });
    await define();
    const namespace = await testCluster.namespace('shop');
    const defined = performance.now();
    await testCluster.activate(namespace);
    expect(performance.now() - defined).toBeLessThan(30_000);
    await testCluster.waitForWebhook(namespace);
    await testCluster.create(createWorkload(deployment, namespace, 'app'));
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(true);
  });
});

describe('the manager', () => {
  it('is alive, and not ready without an answer of the API server and a certificate [D30]', async () => {
    const { cluster, installation } = operator;
    const [webhookPort = 0] = await freePorts(1);
    const proxy = await startTcpProxy(Number(new URL(cluster.server).port));
    proxy.block(true);
    const reached = { ...cluster, server: `https://127.0.0.1:${proxy.port}` };
    const certificatesDirectory = join(cluster.dir, 'no-certificates');
    const late = await startManager(reached, installation, {
      name: 'late',
      webhookPort,
      config: { certificatesDirectory },
      awaitsReady: false,
    });
    const live = `http://127.0.0.1:${late.healthPort}${paths.live}`;
    await eventually(async () => expect((await fetch(live)).status).toBe(200));
    const unready = (text: string) => ({ status: 503, text: `not ready: ${text}` });
    expect(await late.readiness()).toMatchObject(unready('the API server has not said what it is yet'));
    proxy.block(false);
    const missing = unready('the webhook has no certificate yet');
    await eventually(async () => expect(await late.readiness()).toMatchObject(missing));
    writeCertificate(certificatesDirectory, installation.certificate, installation.authority.certificate);
    await eventually(async () => expect((await late.readiness()).status).toBe(200));
    await late.stop();
    await proxy.close();
  });

  it('serves a new certificate without a restart, ignores half of one, and always answers', async () => {
    const { testCluster, installation } = operator;
    const namespace = await testCluster.namespace('renewal');
    await testCluster.activate(namespace);
    await testCluster.waitForWebhook(namespace);
    const { certificates, pid } = operator.manager();
    const before = await servedSerial();
    let created = 0;
    const creating = (async () => {
      for (; created < 40; created += 1)
        await testCluster.create(createWorkload(deployment, namespace, `app-${created}`));
    })();
    writeFileSync(join(certificates, 'tls.key'), 'half of a key');
    await eventually(() =>
      expect(readFileSync(operator.manager().logFile, 'utf8')).toContain('cannot use the webhook certificate'),
    );
    expect(await servedSerial()).toBe(before);
    const renewed = await issueServing(installation.authority, ['localhost', '127.0.0.1'], validity);
    writeCertificate(certificates, renewed, installation.authority.certificate);
    await eventually(async () => expect(await servedSerial()).not.toBe(before));
    await creating;
    for (let index = 0; index < 40; index += 1)
      expect(await testCluster.isInstrumented(deployment, namespace, `app-${index}`)).toBe(true);
    expect(await operator.metric('lumigo_operator_missed_injections_total')).toBe(0);
    expect(operator.manager().pid).toBe(pid);
  });

  it('reports the age of its data, for each kind that it watches', async () => {
    const heard = () => operator.metric('lumigo_operator_watch_heard_timestamp_seconds');
    const watched = workloads.filter(({ addOn }) => addOn === undefined).length + 1;
    const before = await heard();
    expect(Math.abs(before / watched - Date.now() / 1_000)).toBeLessThan(180);
    await operator.testCluster.create(createWorkload(deployment, await operator.testCluster.namespace('heard'), 'app'));
    await eventually(async () => expect(await heard()).toBeGreaterThan(before));
  });

  it('releases the Lease when it is stopped, and its successor acts within seconds', async () => {
    const { testCluster } = operator;
    const standby = await operator.startAnother();
    const leader = operator.manager().name;
    await operator.stopManager();
    // Without the release, the Lease would name the former leader for 15 seconds.
    const { spec } = (await operator.cluster.client.get(ownLease())) as Lease;
    expect(spec?.holderIdentity).not.toBe(leader);
    const namespace = await testCluster.namespace('successor');
    await testCluster.create(createWorkload(deployment, namespace, 'app'));
    await testCluster.activate(namespace);
    await testCluster.waitForInstrumented(deployment, namespace, 'app');
    await operator.startManager();
    await standby.stop();
  });

  it('writes no token into its log', () => {
    const log = readFileSync(operator.manager().logFile, 'utf8');
    expect(log).toContain('wrote response');
    expect(log).not.toContain(validToken);
  });
});

const inMinutes = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString();
const terms = (): number => readFileSync(operator.manager().logFile, 'utf8').split('reconciler ready').length;

const waitForReasons = (namespace: string, name: string, ...expected: readonly string[]): Promise<void> =>
  // An event that was refused is sent again after 30 s at most.
  eventually(async () => expect(await operator.testCluster.reasons(namespace, name)).toEqual(expected), {
    timeoutMs: 60_000,
  });

describe('the events of a term', () => {
  it('are not repeated in the next one, if the Lease was deleted', async () => {
    const { testCluster, cluster } = operator;
    const namespace = await testCluster.instrumented('earlier');
    await waitForReasons(namespace, 'app', 'LumigoAddedInstrumentation');
    await operator.stopManager();
    // Kubernetes deletes events after an hour.
    const { metadata } = await testCluster.get(deployment, namespace, 'app');
    const status = metadata.annotations?.[annotations.instrumentation]?.replace(/\d{4}-\S+Z/, inMinutes(-61));
    expect(status).toContain(inMinutes(-61).slice(0, 13));
    await testCluster.merge(deployment, namespace, 'app', {
      metadata: { annotations: { [annotations.instrumentation]: status } },
    });
    await cluster.client.delete(ownLease());
    await operator.startManager();
    await testCluster.waitForWebhook(namespace);
    await testCluster.create(createWorkload(deployment, namespace, 'next'));
    await waitForReasons(namespace, 'next', 'LumigoAddedInstrumentation');
    expect(await testCluster.reasons(namespace, 'app')).toEqual(['LumigoAddedInstrumentation']);
  });

  it('are not posted in a later one, if another leader has reported them', async () => {
    const { testCluster } = operator;
    let isRefused = false;
    proxy.interfere = ({ path, isWrite }) => {
      if (!isWrite || !path.includes('/events')) return undefined;
      isRefused = true;
      return { answer: 503 };
    };
    const namespace = await testCluster.instrumented('waiting');
    await testCluster.create(createWorkload(deployment, namespace, 'other'));
    await eventually(() => expect(isRefused).toBe(true));
    const before = terms();
    // The last sign of life of another leader, long after the end of this term.
    await endTerm({ renewTime: inMinutes(10).replace('Z', '000Z') });
    await eventually(() => expect(terms()).toBe(before + 1), { timeoutMs: 40_000 });
    proxy.interfere = undefined;
    await testCluster.merge(deployment, namespace, 'other', { metadata: { labels: { [labels.autoTrace]: 'false' } } });
    // The events of a namespace are posted in order, if one was refused.
    await waitForReasons(namespace, 'other', 'LumigoRemovedInstrumentation');
    expect(await testCluster.reasons(namespace, 'app')).toEqual([]);
  });
});

describe('the probe of the webhook', () => {
  it("passes through the injector's own rule, so that an excluding condition is noticed [F29]", async () => {
    const { testCluster } = operator;
    const namespace = await testCluster.namespace('excluded');
    await testCluster.activate(namespace);
    await testCluster.waitForCondition(namespace, 'WebhookReachable', {
      status: 'True',
      message: 'The API server reaches the injector webhook',
    });
    await eventually(async () => expect(await operator.metric('lumigo_operator_webhook_reachable')).toBe(1));
    await excludeAll();
    // The leader probes at the start of its term, and once a minute.
    await operator.stopManager();
    await operator.startManager();
    await testCluster.waitForCondition(namespace, 'WebhookReachable', { status: 'False', reason: 'ProbeFailed' });
    const { message } = (await testCluster.condition(namespace, 'WebhookReachable')) ?? {};
    expect(message).toContain('Check that the MutatingWebhookConfiguration exists');
  });

  it('reports nothing once there is no Lumigo resource, so no alert stays', async () => {
    const { client } = operator.cluster;
    const series = /^lumigo_operator_webhook_reachable /m;
    expect(await getSeries()).toMatch(series);
    for (const { metadata } of await listAll(client, lumigo)) await client.delete({ ...lumigo, ...metadata });
    const hasNone = async (): Promise<void> => {
      const page = await getSeries();
      expect(page).toMatch(/^lumigo_operator_leader 1$/m);
      expect(page).not.toMatch(series);
    };
    await eventually(hasNone, { timeoutMs: 100_000 });
  });
});

describe('the age of a watch', () => {
  it('is reported also if the watch never opens, so that an alert fires', async () => {
    const plurals = ['daemonsets', 'rollouts'];
    const isRefused = (path: string): boolean => plurals.some((plural) => path.includes(`/${plural}?`));
    const least = async (metric: string): Promise<number> => {
      const get = (plural: string) =>
        operator.manager().metric(`lumigo_operator_watch_${metric}`, `resource="${plural}"`);
      return Math.min(...(await Promise.all(plurals.map(get))));
    };
    const waitForRefusals = async (count: number) => {
      const before = await least('restarts_total');
      const areRefused = async () => expect(await least('restarts_total')).toBeGreaterThanOrEqual(before + count);
      await eventually(areRefused, { timeoutMs: 60_000 });
    };
    proxy.interfere = ({ path }) => (isRefused(path) ? { answer: 403 } : undefined);
    // No watch of this term hears anything after that.
    proxy.cutWatches(isRefused);
    await waitForRefusals(1);
    const begun = Date.now() / 1_000;
    await endTerm();
    await waitForRefusals(2);
    expect(await least('heard_timestamp_seconds')).toBeGreaterThan(begun);
  });
});
