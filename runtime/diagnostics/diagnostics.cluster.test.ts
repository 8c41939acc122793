import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Manifest } from '../../infra/constructs/manifest.ts';
import { synthesize } from '../../infra/operator.ts';
import { connectTo } from '../../sandbox/control-plane/connect.ts';
import { apply } from '../../sandbox/manager/apply.ts';
import { runCommand, runInContainer } from '../../sandbox/manager/command.ts';
import type { Changes } from '../../sandbox/manager/configuration.ts';
import { originalRelease } from '../../sandbox/original/recorded.ts';
import { OtlpSink } from '../../sandbox/otlp-sink/sink.ts';
import { accountIn } from '../../sandbox/testing/account.ts';
import { operatorRequests } from '../../sandbox/testing/audit.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { validToken } from '../../sandbox/testing/test-cluster.ts';
import { everyKind, createWorkload } from '../../sandbox/testing/workloads.ts';
import { checkPermissions } from '../access/check-permissions.ts';
import { labels, lumigo, suffixes, workloadKinds, workloads } from '../contract.ts';
import { assumedConfig } from '../installation/assumed.ts';
import { createClient, listAll, type Client } from '../kubernetes/http/client.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { explain } from './explain.ts';
import type { Finding } from './finding.ts';
import { assumedPolicy } from './preview.ts';
import { verdictOn } from './verdict.ts';

/** The manager runs beside the cluster, not in pods. */
let sink: OtlpSink;
let operator: OperatorBench;
let shop: string;
beforeAll(async () => {
  // Without an answer about its token, a Lumigo is ready only after 30 s.
  sink = await OtlpSink.start();
  operator = await startOperator({ audit: true, controllerManager: false, config: { endpoint: sink.url } });
  const { testCluster } = operator;
  shop = await testCluster.namespace('shop');
  for (const [, kind] of everyKind)
    await testCluster.create(createWorkload(kind, shop, `a-${kind.kind.toLowerCase()}`));
  await testCluster.create(createWorkload(deployment, shop, 'out', { labels: { [labels.autoTrace]: 'false' } }));
  await testCluster.create(createWorkload(deployment, shop, 'frozen', { labels: { frozen: 'yes' } }));
  const env = [{ name: 'LUMIGO_TRACER_TOKEN', value: validToken }];
  await testCluster.create(createWorkload(deployment, shop, 'own-token', { env }));
  await operator.refuseChanges(shop, { frozen: 'yes' });
});
afterAll(async () => {
  await operator?.stop();
  await sink?.close();
});

const { daemonSet, deployment } = workloadKinds;

const asUser = (...args: string[]) =>
  runCommand(['--kubeconfig', operator.cluster.kubeconfig, ...args], { HOME: '/nonexistent' });

/** Runs a command in a container whose configuration differs. */
const runWith = (changes: Changes, ...args: string[]) => {
  const { cluster, installation } = operator;
  return runInContainer(cluster, { ...installation, config: { ...installation.config, ...changes } }, args);
};

/** Runs `lumigo check` with the account of `helm test`. */
async function check(...args: string[]): Promise<readonly Finding[]> {
  const { cluster, installation } = operator;
  const { stdout } = await runInContainer(cluster, installation, ['check', '-o', 'json', ...args], suffixes.check);
  return JSON.parse(stdout) as readonly Finding[];
}

/** No controller of Kubernetes writes here. */
async function getVersions(): Promise<readonly unknown[]> {
  const lists = workloads.map((kind) => listAll(operator.cluster.client, { ...kind, namespace: shop }));
  return (await Promise.all(lists)).flat().map(({ metadata }) => [metadata.uid, metadata.resourceVersion]);
}

describe('lumigo preview', () => {
  it("shows each workload's decision, reason and the API server's answer, and changes nothing", async () => {
    const before = await getVersions();
    expect(before).toHaveLength(everyKind.length + 3);
    const { code, stdout } = await asUser('preview', '-n', shop, '--assume-lumigo');
    expect(code).toBe(0);
    expect(stdout).toContain(`Namespace ${shop}: the Lumigo 'lumigo (assumed)' is active`);
    for (const kind of ['Deployment', 'DaemonSet', 'StatefulSet', 'ReplicaSet', 'CronJob'])
      expect(stdout).toMatch(new RegExp(`${kind}/a-${kind.toLowerCase()} +instrument `));
    expect(stdout).toMatch(/Job\/a-job +CANNOT +A Job's pod template cannot change/);
    expect(stdout).toMatch(/Deployment\/out +untouched +the resource has the 'lumigo.auto-trace' label set to 'false'/);
    expect(stdout).toMatch(/Deployment\/frozen +REFUSED/);
    expect(stdout).toContain('= the API server accepts it');
    expect(stdout).toMatch(/= the API server refuses it: .*this workload is frozen/);
    expect(stdout).toContain('+ /spec/template/spec/volumes');
    expect(stdout).not.toContain(validToken);
    expect(await getVersions()).toEqual(before);
  });

  it('says what to do if there is no Lumigo yet', async () => {
    const { code, stdout, stderr } = await runInContainer(operator.cluster, operator.installation, ['preview']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '\n' });
    expect(stderr).toContain('No namespace has a Lumigo resource');
  });
});

const requests = () =>
  operatorRequests(operator.cluster, operator.installation, 'check').flatMap(({ verb, objectRef, ...entry }) =>
    objectRef?.resource === undefined
      ? []
      : [{ asked: `${verb} ${objectRef.resource}`, namespace: objectRef.namespace, code: entry.responseStatus?.code }],
  );

describe('the account of `helm test`', () => {
  // Helm creates this account and its roles.
  beforeAll(async () => {
    const hooks = synthesize(operator.installation.settings, 'Helm').filter(
      ({ kind, metadata }) => metadata.annotations?.['helm.sh/hook'] === 'test' && kind !== 'Job',
    );
    for (const manifest of hooks) await apply(operator.cluster.client, manifest);
  });

  it('may do all that `lumigo check` needs, except list pods of other programs', async () => {
    const namespace = await operator.testCluster.namespace('checked');
    await operator.testCluster.activate(namespace);
    await operator.testCluster.waitForCondition(namespace, 'Ready', { status: 'True' });
    const findings = await check('--wait', '1');
    expect(Object.fromEntries(findings.map(({ check, result }) => [check, result]))).toEqual({
      definition: 'ok',
      leader: 'ok',
      certificate: 'ok',
      webhook: 'ok',
      policies: 'ok',
      nodes: 'ok',
      lumigoes: 'ok',
      manager: 'failed',
      images: 'unknown',
    });
    expect(findings.find(({ check }) => check === 'manager')?.details).toContain('replicas of lumigo-system/');
    expect(new Set(requests().flatMap(({ asked, code }) => (code === 403 ? asked : [])))).toEqual(
      new Set(['list pods']),
    );
  });

  it('may do nothing that `lumigo check` does not need, and create nothing outside of one namespace', () => {
    const granted = [...checkPermissions.check, ...checkPermissions.checkProbe].flatMap(({ verbs, resources }) =>
      verbs.flatMap((verb) => resources.map((resource) => `${verb} ${resource}`)),
    );
    const used = new Set(requests().map(({ asked }) => asked));
    expect(granted.filter((each) => !used.has(each))).toEqual([]);
    const created = requests().filter(({ asked }) => asked === 'create lumigoes');
    expect(new Set(created.map(({ namespace }) => namespace))).toEqual(new Set(['default']));
  });
});

describe('lumigo check', () => {
  it('fails if the collector of a node is not available', async () => {
    const { installation, testCluster } = operator;
    const { namespace, name } = installation.settings;
    const manifest = createWorkload(daemonSet, namespace, `${name}${suffixes.nodeCollector}`);
    await testCluster.create(manifest);
    const counts = { desiredNumberScheduled: 3, currentNumberScheduled: 3, numberMisscheduled: 0, numberReady: 2 };
    const ref = { ...daemonSet, namespace, name: manifest.metadata.name };
    await testCluster.setStatus(ref, { ...counts, numberAvailable: 2 });
    const findings = await check();
    expect(findings.find(({ check }) => check === 'nodes')).toMatchObject({
      result: 'failed',
      details: 'The collectors of 2 of 3 nodes are available',
    });
  });

  it('fails if a webhook that the original operator left behind refuses each Lumigo resource', async () => {
    const [, left] = originalRelease().objects.filter(({ kind }) => kind === 'MutatingWebhookConfiguration');
    const { name = '' } = left?.metadata ?? {};
    const judged = (expected: object) =>
      eventually(async () => {
        const findings = await check();
        expect(findings.find(({ check }) => check === 'webhook')).toMatchObject(expected);
      });
    await operator.testCluster.apply(left as Manifest);
    const details = expect.stringContaining('failed calling webhook "lumigodefaulter.kb.io"');
    await judged({ result: 'failed', details, todo: expect.stringContaining('troubleshooting') });
    await operator.cluster.client.delete({ ...kinds.webhooks, name });
    await judged({ result: 'ok' });
  });
});

describe('lumigo explain', () => {
  it('explains the state of a workload in plain words', async () => {
    const nothing = await asUser('explain', 'deploy/a-deployment', '-n', shop);
    expect(nothing.stdout).toMatch(/Now: +not instrumented/);
    expect(nothing.stdout).toContain(`No Lumigo configuration for the '${shop}' namespace`);
    const { testCluster } = operator;
    await testCluster.lumigo(shop);
    const inactive = await asUser('explain', 'deployment/a-deployment', '-n', shop);
    expect(inactive.stdout).toMatch(/is not active/);
    await testCluster.secret(shop);
    await testCluster.waitForActive(shop);
    await testCluster.waitForInstrumented(deployment, shop, 'a-deployment');
    const { stdout } = await asUser('explain', 'deployments.apps/a-deployment', '-n', shop);
    expect(stdout).toMatch(
      /Now: +instrumented \(added .* by the controller; traces, no logs, token from Secret 'lumigo-credentials', key 'token'\)/,
    );
    expect(stdout).toMatch(/Next: +nothing changes/);
    expect(stdout).not.toContain('Remedy');
    const frozen = await asUser('explain', 'deployment/frozen', '-n', shop);
    expect(frozen.stdout).toMatch(/the API server refuses the change: .*this workload is frozen/);
    const job = await asUser('explain', 'job/a-job', '-n', shop);
    expect(job.stdout).toMatch(/Decision: +A Job's pod template cannot change/);
    expect(job.stdout).toMatch(/Remedy: +Create the Job again/);
  });

  it('names the endpoint of an injection by another installation, which stays [F10]', async () => {
    await operator.testCluster.create(createWorkload(deployment, shop, 'moved'));
    const explained = ['explain', 'deployment/moved', '-n', shop];
    const { stdout } = await runWith({ telemetryProxyUrl: 'http://moved.example' }, ...explained);
    expect(stdout).toMatch(/Sends to: +http:\/\/\S+, which is not .* telemetry proxy \(http:\/\/moved\.example\)/);
    expect(stdout).toMatch(/Next: +nothing changes/);
    expect((await asUser(...explained)).stdout).not.toContain('Sends to');
  });

  it('says why a workload that opts in without a Lumigo has no token', async () => {
    const { testCluster, cluster, installation } = operator;
    const alone = await testCluster.namespace('alone');
    await testCluster.create(createWorkload(deployment, alone, 'cart', { labels: { [labels.autoTrace]: 'true' } }));
    const rules = [
      { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get'] },
      { apiGroups: [lumigo.group], resources: [lumigo.plural], verbs: ['list'] },
    ];
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'reader' } };
    await testCluster.apply({ ...role, rules });
    const reader = await accountIn(cluster, alone, 'reader');
    reader.close();
    const notesOf = async (token: string) => {
      const transport = connectTo({ ...cluster, token });
      const read = { client: createClient(transport), transport, config: installation.config, note: () => undefined };
      const { notes } = await explain({ ...read, namespace: alone, target: 'deployment/cart' });
      transport.close();
      return notes;
    };
    const missing = `Secret '${alone}/lumigo-credentials' does not exist; create it, with your Lumigo token under the key 'token'`;
    expect(await notesOf(cluster.token)).toEqual([missing]);
    expect(await notesOf(reader.token)).toEqual([]);
    await testCluster.secret(alone, `${validToken}\n`);
    expect(await notesOf(cluster.token)).toEqual([expect.stringContaining('has white space around the token')]);
    await testCluster.secret(alone);
    expect(await notesOf(cluster.token)).toEqual([]);
  });

  it.each([
    [['explain', 'deployment/none'], 1, /there is no Deployment 'none' in the 'shop-.*' namespace/],
    [['explian', 'deployment/none'], 1, /unknown command 'explian'\n\(Did you mean explain\?\)/],
    [['preview', '--kubeconfig', '/nonexistent/config'], 2, /\/nonexistent\/config/],
  ])('says what is wrong with %j, and exits with %d', async (args, expected, sentence) => {
    const { code, stdout, stderr } = await asUser(...args, '-n', shop);
    expect({ code, stdout }).toEqual({ code: expected, stdout: '' });
    expect(stderr).toMatch(sentence);
  });
});

const namespace = 'default';

async function create(name: string) {
  await operator.testCluster.create(createWorkload(deployment, namespace, name));
  return operator.testCluster.get(deployment, namespace, name);
}

const judge = (client: Client, workload: Awaited<ReturnType<typeof create>>) =>
  verdictOn(deployment, workload, assumedPolicy, { client, config: assumedConfig });

describe('a verdict', () => {
  it('is made again on a workload that changed after it was read', async () => {
    const before = await create('changed');
    await operator.testCluster.merge(deployment, namespace, 'changed', { metadata: { labels: { team: 'a' } } });
    expect(await judge(operator.cluster.client, before)).toMatchObject({
      decision: { kind: 'inject' },
      refusal: undefined,
    });
  });

  it('does not exist for a workload that was deleted after it was read', async () => {
    const before = await create('deleted');
    await operator.cluster.client.delete({ ...deployment, namespace, name: 'deleted' });
    expect(await judge(operator.cluster.client, before)).toBeUndefined();
  });

  it('says that an account without the right to change the workload has not tried it', async () => {
    const viewer = await accountIn(operator.cluster, namespace, 'view');
    const verdict = await judge(viewer.client, await create('viewed'));
    viewer.close();
    expect(verdict).toMatchObject({ untried: true, refusal: undefined });
  });

  it('has the refusal of a policy that also answers 403', async () => {
    const before = await create('frozen');
    const rule = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['deployments'] };
    const freezing = {
      matchConstraints: { resourceRules: [{ ...rule, resourceNames: ['frozen'] }] },
      validations: [{ expression: 'false', message: 'it is frozen', reason: 'Forbidden' }],
    };
    const bound = { policyName: 'freeze', validationActions: ['Deny'] };
    const apiVersion = 'admissionregistration.k8s.io/v1';
    await operator.testCluster.apply(
      { apiVersion, kind: 'ValidatingAdmissionPolicy', metadata: { name: 'freeze' }, spec: freezing },
      { apiVersion, kind: 'ValidatingAdmissionPolicyBinding', metadata: { name: 'freeze' }, spec: bound },
    );
    const verdict = await eventually(async () => {
      const found = await judge(operator.cluster.client, before);
      expect(found?.refusal).toContain('it is frozen');
      return found;
    });
    expect(verdict).not.toHaveProperty('untried');
  });

  it('fails without an answer of the API server', async () => {
    const before = await create('unanswered');
    const transport = connectTo({ ...operator.cluster, server: 'https://127.0.0.1:1' });
    await expect(judge(createClient(transport), before)).rejects.toThrow('ECONNREFUSED');
    transport.close();
  });
});
