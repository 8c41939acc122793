import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request } from 'node:https';
import { answerTo, type Answer } from '../../sandbox/answer.ts';
import { apply, applyDefinition, toRef } from '../../sandbox/manager/apply.ts';
import { runInContainer } from '../../sandbox/manager/command.ts';
import { tokenFor } from '../../sandbox/manager/service-account.ts';
import { operatorRequests, type AuditEntry } from '../../sandbox/testing/audit.ts';
import { waitForDeletion } from '../../sandbox/testing/destroy.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { waitForProtected } from '../../sandbox/testing/protection.ts';
import { getDefinitions } from '../../sandbox/programs/definitions.ts';
import { post, spanId, countSpans } from '../../sandbox/otlp-sink/sender.ts';
import { validToken } from '../../sandbox/testing/test-cluster.ts';
import { podStatus } from '../../sandbox/testing/pod-outcomes.ts';
import { startTelemetry, type TelemetryBench } from '../../sandbox/testing/telemetry.ts';
import { createRunning, createWorkload } from '../../sandbox/testing/workloads.ts';
import { labels, originalLease, paths, pods, suffixes, workloadKinds, workloads } from '../contract.ts';
import { issuePair } from '../certificates/issue.ts';
import { certificateStore } from '../certificates/store.ts';
import { listAll } from '../kubernetes/http/client.ts';
import { permissions, type PolicyRule } from './permissions.ts';
import { getAccount } from '../uninstall/protected-objects.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';

let operator: TelemetryBench;
beforeAll(async () => {
  const settings = { metrics: { secure: true } };
  operator = await startTelemetry({ audit: true, settings, config: { certificatesDirectory: '' } });
  for (const definition of getDefinitions('argo', ['rollout-crd']))
    await applyDefinition(operator.cluster.client, definition);
});
afterAll(() => operator?.stop());

const { deployment, job } = workloadKinds;

const ownRequests = (account: keyof typeof grantedTo = 'manager') =>
  operatorRequests(operator.cluster, operator.installation, account);

const granted = (rules: readonly PolicyRule[]): string[] =>
  rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}.${group}`))),
  );

const grantedTo = {
  manager: [...permissions.cluster, ...permissions.ownNamespace, ...permissions.metrics],
  telemetryProxy: permissions.telemetryProxy,
} as const;
const accounts = ['manager', 'telemetryProxy'] as const;

const asked = ({ verb, objectRef = {} }: AuditEntry): string => {
  const { resource = '', subresource, apiGroup = '' } = objectRef;
  return `${verb} ${subresource === undefined ? resource : `${resource}/${subresource}`}.${apiGroup}`;
};

/** The list is for servers that cannot stream one (before Kubernetes 1.32). */
const isFallback = (permission: string, used: ReadonlySet<string>): boolean =>
  permission.startsWith('list ') && used.has(permission.replace('list ', 'watch '));

/**
 * The API server checks these itself for a client that writes an owner reference (cleanup.cluster.test.ts).
 */
const isAskedOfOwners = (permission: string): boolean =>
  permission === 'delete serviceaccounts.' || permission.includes('/finalizers.');

async function breakCertificate(): Promise<void> {
  const { name, namespace } = operator.installation.settings;
  const ref = { ...kinds.secrets, namespace, name: `${name}-webhook-certificates` };
  await operator.stopManager();
  await operator.cluster.client.patch(ref, { kind: 'merge', body: { data: { 'tls.crt': '', 'tls.key': '' } } });
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace, name: originalLease } };
  await operator.testCluster.create(lease as never);
  await operator.startManager();
}

async function traced(name: string): Promise<string> {
  const { testCluster } = operator;
  const namespace = await testCluster.namespace(name);
  await testCluster.activate(namespace);
  await testCluster.waitForWebhook(namespace);
  return namespace;
}

async function breakPod(): Promise<void> {
  const { testCluster, cluster } = operator;
  const namespace = await traced('broken');
  await createRunning(testCluster, namespace, 'db', { kind: workloadKinds.statefulSet, spec: { replicas: 1 } });
  const pod = { ...pods, namespace, name: 'db-0' };
  await eventually(async () =>
    testCluster.setStatus(pod, podStatus('no-injector-image', await cluster.client.get(pod))),
  );
  const evicted = () => expect(ownRequests().map(asked)).toContain('create pods/eviction.');
  await eventually(evicted, { timeoutMs: 60_000 });
}

/** The Job has its own namespace, because the webhook waits while another workload without pods is judged. */
async function sendFromJob(): Promise<void> {
  const { testCluster, cluster, collector } = operator;
  const namespace = await traced('batch');
  await testCluster.create(createWorkload(job, namespace, 'once', { pod: { nodeName: 'node' } }));
  expect(await testCluster.isInstrumented(job, namespace, 'once')).toBe(true);
  await operator.waitForCollecting(namespace);
  // Its pod has the address of the senders of this machine.
  await eventually(async () => {
    const [pod] = await listAll(cluster.client, { ...pods, namespace }, { labelSelector: 'job-name=once' });
    const podIP = '127.0.0.1';
    await testCluster.setStatus(
      { ...pods, namespace, name: pod?.metadata.name ?? '' },
      { podIP, podIPs: [{ ip: podIP }] },
    );
  });
  await eventually(async () => {
    await post(`${collector().url}/v1/traces`, countSpans({}, [spanId(1)]), { token: validToken });
    expect(ownRequests().map(asked)).toContain('patch configmaps.');
  });
}

async function loseAccount(): Promise<void> {
  const { cluster, installation } = operator;
  const account = getAccount(installation.config);
  await waitForProtected(operator, true);
  const { uid } = (await cluster.client.get(account)).metadata;
  await cluster.client.delete(account);
  await eventually(async () => expect((await cluster.client.get(account)).metadata.uid).not.toBe(uid), {
    timeoutMs: 40_000,
  });
  await operator.stopManager();
  await operator.startManager();
}

async function removeRights(): Promise<void> {
  const { cluster, installation } = operator;
  const kinds = ['Deployment', 'ServiceAccount', 'ClusterRole', 'ClusterRoleBinding'];
  // The telemetry proxy's rights have no finalizer, so it would be refused until they are back.
  const rights = installation.manifests.filter(
    ({ kind, metadata }) => kinds.includes(kind) && !metadata.name?.includes(suffixes.telemetryProxy),
  );
  await waitForProtected(operator, true);
  for (const manifest of rights) await cluster.client.delete(toRef(manifest));
  await operator.stopManager();
  for (const manifest of rights) await waitForDeletion(cluster, manifest);
  for (const manifest of rights) await apply(cluster.client, manifest);
  await operator.startManager();
}

const rbac = 'rbac.authorization.k8s.io';

async function scraper(name: string): Promise<string> {
  const metadata = { name, namespace: 'default' };
  await operator.testCluster.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata });
  return tokenFor(operator.cluster.client, metadata);
}

async function allow(name: string): Promise<void> {
  const { testCluster } = operator;
  const metadata = { name };
  const rules = [{ nonResourceURLs: [paths.metrics], verbs: ['get'] }];
  await testCluster.create({ apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata, rules });
  await testCluster.create({
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata,
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace: 'default' }],
  });
  await waitForGrant(`system:serviceaccount:default:${name}`);
}

/** The API server's authorizer reads a new binding by a watch, and the manager remembers a refusal. */
const waitForGrant = (user: string): Promise<void> =>
  eventually(async () => {
    const kind = { group: 'authorization.k8s.io', version: 'v1', plural: 'subjectaccessreviews' };
    const spec = { user, nonResourceAttributes: { path: paths.metrics, verb: 'get' } };
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', metadata: {}, spec };
    const { object } = await operator.cluster.client.create(kind, review as never);
    expect(object['status']).toMatchObject({ allowed: true });
  });

const certificates = () => certificateStore(operator.cluster.client, operator.installation.config);

/** All requests have the same address, from which two unknown tokens are checked per second. */
const scrape = (token?: string, path: string = paths.metrics): Promise<Answer> =>
  eventually(async () => {
    const { authority: ca } = (await certificates().readPair()) ?? {};
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const { metricsPort: port } = operator.manager();
    const answer = await answerTo(request({ host: '127.0.0.1', port, path, ca, headers, agent: false }).end());
    expect(answer.status).not.toBe(503);
    return answer;
  });

describe('metrics with `metrics.secure` [F25]', () => {
  let token: string;
  beforeAll(async () => {
    token = await scraper('prometheus');
    await allow('prometheus');
  });

  it('are served to an account that may get /metrics, both kinds, with one token review', async () => {
    const reviews = () =>
      ownRequests()
        .map(asked)
        .filter((request) => request.includes(' tokenreviews.')).length;
    const before = reviews();
    expect(await scrape(token)).toMatchObject({ status: 200, text: expect.stringContaining('lumigo_operator_leader') });
    // A collector that has just begun does not serve the metrics of its process yet.
    await eventually(async () => {
      const { status, text } = await scrape(token, paths.telemetryProxyMetrics);
      expect([status, text]).toEqual([200, expect.stringMatching(/^otelcol_process_uptime/m)]);
    });
    for (let scrapes = 0; scrapes < 20; scrapes += 1) await scrape(token);
    expect(reviews() - before).toBe(1);
  });

  it('are refused to an account without the right, until it has it', async () => {
    const curious = await scraper('curious');
    expect(await scrape(curious)).toMatchObject({
      status: 403,
      text: "'system:serviceaccount:default:curious' cannot read metrics; bind it to a ClusterRole with {nonResourceURLs: [/metrics], verbs: [get]}\n",
    });
    await allow('curious');
    await eventually(async () => expect((await scrape(curious)).status).toBe(200), { timeoutMs: 30_000 });
  });

  it('are refused for a token that the API server does not know', async () => {
    expect(await scrape('garbage')).toMatchObject({ status: 401, text: expect.stringContaining('send a current one') });
  });

  it('are served with the certificate of the webhook, and with a new one soon', async () => {
    // The authority of the former certificate does not verify the new one.
    await certificates().writePair(await issuePair('127.0.0.1', 365, Date.now()), await certificates().readPair());
    await eventually(async () => expect((await scrape(token)).status).toBe(200), { timeoutMs: 60_000 });
  });
});

describe('the permissions of the operator', () => {
  it('suffice for all that it does', async () => {
    const { testCluster, cluster, installation } = operator;
    const namespace = await testCluster.namespace('access');
    for (const kind of workloads)
      await eventually(() => testCluster.create(createWorkload(kind, namespace, `old-${kind.plural}`)));
    await testCluster.activate(namespace);
    await testCluster.waitForWebhook(namespace);
    const changeable = workloads.filter(({ mutable }) => mutable);
    for (const kind of changeable) await testCluster.create(createWorkload(kind, namespace, `new-${kind.plural}`));
    for (const kind of changeable) await testCluster.waitForInstrumented(kind, namespace, `old-${kind.plural}`);
    await createRunning(testCluster, namespace, 'busy', { spec: { replicas: 1 } });
    await eventually(() => expect(ownRequests().map(asked)).toContain('list pods.'));
    // Its pods never run, so the rollout would wait for it.
    await cluster.client.delete({ ...deployment, namespace, name: 'busy' });
    await breakPod();
    await testCluster.merge(deployment, namespace, 'new-deployments', {
      metadata: { labels: { [labels.autoTrace]: 'false' } },
    });
    await testCluster.changeLumigo(namespace, { spec: { logging: { enabled: true } } });
    await eventually(async () =>
      expect((await testCluster.events(namespace, 'old-deployments')).map(({ reason }) => reason)).toContain(
        'LumigoUpdatedInstrumentation',
      ),
    );
    await sendFromJob();
    // The webhook's probe starts a moment after the manager.
    await eventually(() =>
      expect(ownRequests().some(({ requestURI }) => requestURI.includes('dryRun=All'))).toBe(true),
    );
    await loseAccount();
    await breakCertificate();
    const preview = await runInContainer(cluster, installation, ['preview']);
    expect(preview).toMatchObject({ code: 0, stderr: '' });
    expect(preview.stdout).toContain(`Namespace ${namespace}: the Lumigo 'lumigo' is active`);
    for (const kind of workloads) {
      const explained = await runInContainer(cluster, installation, [
        'explain',
        `${kind.kind}/old-${kind.plural}`,
        '-n',
        namespace,
      ]);
      expect(explained).toMatchObject({ code: 0, stderr: '' });
    }
    await removeRights();
    expect(await testCluster.isInstrumented(deployment, namespace, 'old-deployments')).toBe(false);
    await testCluster.lumigo(namespace);
    await testCluster.waitForInstrumented(deployment, namespace, 'old-deployments');
    const uninstalled = await runInContainer(cluster, installation, ['uninstall', '--deadline', '60']);
    expect(uninstalled).toMatchObject({ code: 0, stderr: '' });
    expect(await testCluster.isInstrumented(deployment, namespace, 'old-deployments')).toBe(false);
  });

  it.each(accounts)('grant the account %s all that it requests [D22] [D25] [F26]', (account) => {
    const requests = ownRequests(account);
    expect(requests).not.toEqual([]);
    expect(requests.filter(({ responseStatus }) => responseStatus?.code === 403)).toEqual([]);
    const allowed = new Set(granted(grantedTo[account]));
    // Every known account may request paths that are no resources.
    const ofResources = requests.filter(({ objectRef }) => objectRef?.resource !== undefined);
    expect([...new Set(ofResources.map(asked))].filter((request) => !allowed.has(request))).toEqual([]);
  });

  it.each(accounts)('grant the account %s nothing that it never uses', async (account) => {
    const all = granted(grantedTo[account]);
    // The manager renews the Lease every five seconds, and has requested the rest by now.
    await eventually(() => {
      const used = new Set(ownRequests(account).map(asked));
      const unused = all.filter((permission) => !used.has(permission) && !isFallback(permission, used));
      expect(unused.filter((permission) => !isAskedOfOwners(permission))).toEqual([]);
    });
  });
});
