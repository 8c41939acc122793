import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { operatorVersion } from '../../infra/settings/version.ts';
import { parse, parseAllDocuments } from 'yaml';
import { startApiProxy, type ApiProxy } from '../../sandbox/faults/api-proxy.ts';
import { toKubeconfig } from '../../sandbox/control-plane/files.ts';
import { toRef } from '../../sandbox/manager/apply.ts';
import { runCommand } from '../../sandbox/manager/command.ts';
import { withoutNodes } from '../../sandbox/manager/install.ts';
import { OtlpSink } from '../../sandbox/otlp-sink/sink.ts';
import { accountIn, type Account } from '../../sandbox/testing/account.ts';
import { validToken } from '../../sandbox/testing/test-cluster.ts';
import { waitForDeletion } from '../../sandbox/testing/destroy.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { runOperatorPods } from '../../sandbox/testing/operator-pods.ts';
import { createRunning, createWorkload, getPod } from '../../sandbox/testing/workloads.ts';
import { lumigo as contract, pods, workloadKinds } from '../contract.ts';
import type { PodTemplate } from '../api/objects.ts';
import { revertKey } from '../injection/decide-revert.ts';
import { withRevert } from '../injection/revert.ts';
import { toTemplate } from '../injection/workload.ts';
import { listAll } from '../kubernetes/http/client.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import type { Manifest } from '../kubernetes/resources/objects.ts';
import type { Finding } from './finding.ts';
import type { NamespaceStatus } from './rollout-status.ts';

let sink: OtlpSink;
let operator: OperatorBench;
let shop: string;
let editor: Account;
/** It has the rights on Deployments only. */
let worker: Account;
const { deployment } = workloadKinds;
const secretValue = 'hunter2-hunter2';

beforeAll(async () => {
  // Without an answer about its token, a Lumigo is ready only after 30 s.
  sink = await OtlpSink.start();
  operator = await startOperator({
    config: { endpoint: sink.url },
    settings: { ...withoutNodes, name: 'own-name', injectorWebhook: { lumigoInjector: { image: { tag: 'own' } } } },
  });
  const { testCluster, cluster } = operator;
  await runOperatorPods(operator);
  shop = await testCluster.namespace('shop');
  await testCluster.activate(shop);
  const env = [
    { name: 'PASSWORD', value: secretValue },
    { name: 'LUMIGO_TRACER_TOKEN', value: validToken },
  ];
  await testCluster.create(createWorkload(deployment, shop, 'cart', { env }));
  await testCluster.create(createWorkload(deployment, shop, 'out', { labels: { 'lumigo.auto-trace': 'false' } }));
  await testCluster.waitForInstrumented(deployment, shop, 'cart');
  editor = await accountIn(cluster, shop, 'edit');
  // A Kubernetes controller aggregates the operator's rules into the role asynchronously.
  await eventually(() => editor.client.get({ ...contract, namespace: shop, name: 'lumigo' }));
  const metadata = { name: 'deployments' };
  const rules = [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list', 'patch'] }];
  await testCluster.create({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata, rules });
  worker = await accountIn(cluster, shop, metadata.name);
});
afterAll(async () => {
  editor?.close();
  worker?.close();
  await operator?.stop();
  await sink?.close();
});

/** Runs a command with a kubeconfig of its own, and no other. */
function run(server: string, user: string | { readonly exec: object }, args: readonly string[]) {
  const { dir, ca } = operator.cluster;
  const kubeconfig = join(dir, 'command.kubeconfig');
  const login = typeof user === 'string' ? { token: user } : user;
  writeFileSync(kubeconfig, toKubeconfig(server, ca, login), { mode: 0o600 });
  return runCommand([...args, '--kubeconfig', kubeconfig], { HOME: '/nonexistent' });
}
const asAdministrator = (...args: string[]) => run(operator.cluster.server, operator.cluster.token, args);
const asEditor = (...args: string[]) => run(operator.cluster.server, editor.token, args);
const asWorker = (...args: string[]) => run(operator.cluster.server, worker.token, [...args, '-n', shop]);

async function whileInterfered(interfere: ApiProxy['interfere'], ...args: string[]) {
  const proxy = await startApiProxy(operator.cluster);
  proxy.interfere = interfere;
  const finished = await run(proxy.server, operator.cluster.token, args);
  await proxy.close();
  return finished;
}

const results = (json: string) =>
  Object.fromEntries((JSON.parse(json) as readonly Finding[]).map(({ check, result }) => [check, result]));
const each = (checks: readonly string[], result: string) => Object.fromEntries(checks.map((check) => [check, result]));
const needMore = ['manager', 'leader', 'certificate', 'policies', 'nodes'];
const good = each(['definition', 'webhook', 'images', 'lumigoes', ...needMore], 'ok');

describe('an editor of one namespace', () => {
  it('gets an explanation there, without a wrong statement about settings that it cannot read [F80]', async () => {
    const { code, stdout, stderr } = await asEditor('explain', 'deployment/cart', '-n', shop);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^Your account cannot read the operator's settings\. The default settings are assumed, also in dry runs\.\n$/,
    );
    expect(stdout).toMatch(/Next: +nothing changes/);
    expect(stdout).not.toContain('Sends to');
    const out = await asEditor('explain', 'deployment/out', '-n', shop);
    expect(out.stdout).toMatch(/Decision: +the resource has the 'lumigo.auto-trace' label set to 'false'/);
  });

  it('gets a preview there [F80]', async () => {
    const { code, stdout, stderr } = await asEditor('preview', '-n', shop);
    expect(code).toBe(0);
    expect(stderr).toContain("Your account cannot read the operator's settings");
    expect(stdout).toContain(`Namespace ${shop}: the Lumigo 'lumigo' is active`);
    expect(stdout).toMatch(/Deployment\/cart +untouched/);
  });

  it('learns that an injection was reverted, although it cannot read the image of the injector', async () => {
    const { cluster, installation, testCluster } = operator;
    const workload = createWorkload(deployment, shop, 'failed');
    const key = revertKey(workload, toTemplate(workload) as PodTemplate, installation.config.injectorImage);
    const revert = { at: new Date().toISOString(), cause: 'Crash', attempt: 1, key, evidence: 'exit code 42' };
    // With the strategy of this installation, the webhook would add the injection again.
    await operator.stopManager();
    await testCluster.create({ ...workload, metadata: withRevert(workload.metadata, revert) } as Manifest);
    const { stdout } = await asEditor('explain', 'deployment/failed', '-n', shop);
    const preview = await asEditor('preview', '-n', shop);
    await cluster.client.delete({ ...deployment, namespace: shop, name: 'failed' });
    await operator.startManager();
    expect(stdout).toMatch(/Now: +not instrumented, because it was reverted at \S+ \(Crash\)/);
    expect(stdout).toMatch(/Decision: +The injection was removed .* \(exit code 42\)/);
    expect(stdout).toMatch(/Next: +the reconciler tries again later/);
    expect(preview.stdout).toMatch(/Deployment\/failed +untouched +The injection was removed .* \(exit code 42\)/);
  });

  it('gets a sentence about its rights elsewhere [F80]', async () => {
    const all = await asEditor('preview');
    expect(all).toMatchObject({ code: 1, stderr: expect.stringContaining('name one namespace (-n NAMESPACE)') });
    const { code, stderr } = await asEditor('explain', 'deployment/cart', '-n', 'default');
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('forbidden') });
  });
});

describe('lumigo check', () => {
  it('finds nothing wrong with an installation that works', async () => {
    // Kubernetes may still count the operator's pods.
    const { code, stdout } = await asAdministrator('check', '-o', 'json', '--wait', '60');
    expect({ code, ...results(stdout) }).toEqual({ code: 0, ...good });
    expect((await asAdministrator('check')).stdout).toMatch(
      /^CHECK +RESULT +DETAILS\ndefinition +ok +The API server serves/,
    );
  });

  it('names for an editor of one namespace the checks that need more rights, and runs the others', async () => {
    const { code, stdout } = await asEditor('check', '-n', shop, '-o', 'json');
    expect({ code, ...results(stdout) }).toEqual({ code: 0, ...good, ...each(needMore, 'unknown') });
    expect(stdout).toContain('Your account may not check this: ');
  });

  it('says that an editor may make none of the checks without `-n`, and exits with 1', async () => {
    const { code, stdout, stderr } = await asEditor('check', '-o', 'json');
    expect(results(stdout)).toMatchObject({ definition: 'ok', webhook: 'unknown', lumigoes: 'unknown' });
    const sentence = 'lumigo: your account may make none of the checks';
    expect({ code, stderr }).toEqual({ code: 1, stderr: `${sentence}. For those of one namespace, pass -n\n` });
    expect((await asWorker('check')).stderr).toBe(`${sentence}\n`);
  });

  it('says what to do about an unreachable webhook, and exits with 1', async () => {
    await operator.withoutWebhook(async () => {
      // A probe of the operator may fail meanwhile. No Lumigo resource of this namespace says so.
      const { code, stdout, stderr } = await asAdministrator('check', '-n', 'default');
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('lumigo: 2 of 9 checks failed\n') });
      expect(stdout).toMatch(/webhook +failed +The API server does not reach the injector webhook\..*\n +→ See docs/);
      expect(stdout).toMatch(/certificate +failed +The webhook configuration does not exist/);
    });
  });

  it.each([
    [429, 'failed'],
    [422, 'unknown'],
  ])('judges a dry run that gets status %d as %s', async (answer, webhook) => {
    const { stdout } = await whileInterfered(
      ({ method, path }) =>
        method === 'POST' && path.includes(`/${contract.plural}?`) ? { answer, retryAfterSeconds: 0 } : undefined,
      ...['check', '-o', 'json'],
    );
    expect(results(stdout)).toMatchObject({ definition: 'ok', webhook });
  });

  it('waits with `--wait` for a Secret and for an image, and exits with 1 at its deadline', async () => {
    const { testCluster } = operator;
    const broken = await testCluster.namespace('broken');
    await testCluster.lumigo(broken);
    const pod = getPod(broken, 'waits');
    const container = { name: 'lumigo-injector', image: 'none:1' };
    await testCluster.create({ ...pod, spec: { ...pod.spec, initContainers: [container] } } as never);
    const state = { waiting: { reason: 'ImagePullBackOff' } };
    const initContainerStatuses = [{ ...container, state, ready: false, restartCount: 0, imageID: '' }];
    const ref = { ...pods, namespace: broken, name: 'waits' };
    await testCluster.setStatus(ref, { phase: 'Pending', initContainerStatuses });
    // A short wait could end before the operator has written the first status.
    await testCluster.waitForCondition(broken, 'Ready', { reason: 'SecretNotFound' });
    const started = performance.now();
    const { code, stdout, stderr } = await asAdministrator('check', '-n', broken, '--wait', '2');
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('2 of 9 checks failed') });
    expect(performance.now() - started).toBeGreaterThan(2_000);
    expect(stdout).toMatch(/images +failed +Pod broken-.*\/waits: ImagePullBackOff of none:1\n +→ See docs/);
    expect(stdout).toMatch(/lumigoes +failed +Lumigo broken-.*\/lumigo: Secret .* does not exist/);
    const waited = asAdministrator('check', '-n', broken, '--wait', '60', '-o', 'json');
    await testCluster.secret(broken);
    await operator.cluster.client.delete(ref);
    const { stdout: repaired, ...rest } = await waited;
    expect({ code: rest.code, ...results(repaired) }).toEqual({ code: 0, ...good });
    expect(repaired).toContain('1 of 1 Lumigo resources are ready');
    expect(await testCluster.condition(broken, 'Ready')).toMatchObject({ status: 'True' });
  });

  it('finds a policy without its binding', async () => {
    const { client } = operator.cluster;
    const admission = { group: 'admissionregistration.k8s.io', version: 'v1' };
    const bindings = { ...admission, plural: 'validatingadmissionpolicybindings' };
    const name = `${operator.installation.settings.name}-guard-workloads`;
    const binding = (await listAll(client, bindings)).find(
      ({ spec }) => (spec as { policyName: string }).policyName === name,
    );
    await client.delete({ ...bindings, name: binding?.metadata.name });
    const { code, stdout } = await asAdministrator('check');
    expect(code).toBe(1);
    expect(stdout).toMatch(new RegExp(`policies +failed +Not bound, or not valid: ${name}\\n`));
    const metadata = { name: binding?.metadata.name, labels: binding?.metadata.labels };
    await operator.testCluster.create({ ...binding, metadata } as never);
  });
});

describe('lumigo status', () => {
  it('shows an editor each workload of the namespace, and exits once the rollout is complete', async () => {
    const { code, stdout } = await asEditor('status', '-w', '-n', shop);
    expect(code).toBe(0);
    expect(stdout).toContain(`Namespace ${shop}: the Lumigo 'lumigo' is active\n`);
    expect(stdout).toMatch(/Deployment\/cart +instrumented +added .* by the (controller|webhook)/);
    expect(stdout).toMatch(/Deployment\/out +skipped +the resource has the 'lumigo.auto-trace' label set to 'false'/);
    expect(stdout).not.toContain('\u001b');
  });

  it('retries while the API server fails, and says so once', async () => {
    let lists = 0;
    const { code, stdout, stderr } = await whileInterfered(
      ({ path }) =>
        path.includes(`/namespaces/${shop}/deployments`) && (lists += 1) <= 2 ? { answer: 503 } : undefined,
      ...['status', '-w', '-n', shop],
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('Deployment/cart') });
    expect(lists).toBeGreaterThan(2);
    expect(stderr.match(/Cannot read the status, retrying: /g)).toHaveLength(1);
  });

  it('separates the documents of `-w -o yaml`', async () => {
    const { testCluster } = operator;
    const slow = await testCluster.namespace('slow');
    await testCluster.activate(slow);
    await createRunning(testCluster, slow, 'slow');
    await testCluster.waitForInstrumented(deployment, slow, 'slow');
    let lists = 0;
    const { code, stdout } = await whileInterfered(
      ({ path }) => {
        // Nothing runs its pods, so it is complete only without them.
        if (path.includes(`/namespaces/${slow}/deployments`) && (lists += 1) === 2)
          void testCluster.merge(deployment, slow, 'slow', { spec: { replicas: 0 } });
        return undefined;
      },
      ...['status', '-w', '-n', slow, '-o', 'yaml'],
    );
    const documents = parseAllDocuments(stdout);
    expect({ code, errors: documents.flatMap(({ errors }) => errors) }).toEqual({ code: 0, errors: [] });
    const looks = documents.map((document) => document.toJS() as NamespaceStatus);
    expect(looks.map(({ isComplete }) => isComplete)).toEqual([...looks.slice(1).map(() => false), true]);
    expect(looks.length).toBeGreaterThan(1);
  });

  it('shows what the plugin of a login asks, also if it succeeds', async () => {
    const { server, token } = operator.cluster;
    const script = `process.stdin.resume().on('end', () => {
      console.error('To sign in, open https://login.example');
      console.log(JSON.stringify({ status: { token: '${token}' } }));
    })`;
    const apiVersion = 'client.authentication.k8s.io/v1';
    const exec = { apiVersion, command: process.execPath, args: ['-e', script], interactiveMode: 'IfAvailable' };
    const { code, stdout, stderr } = await run(server, { exec }, ['status', '-n', shop]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'To sign in, open https://login.example\n' });
    expect(stdout).toContain('Deployment/cart');
  });

  it('prints the same for programs', async () => {
    const { stdout } = await asEditor('status', '-n', shop, '-o', 'json');
    const workloads = [{ name: 'cart', state: 'instrumented' }, { name: 'out' }];
    expect(JSON.parse(stdout)).toMatchObject({ namespace: shop, isComplete: true, workloads });
  });
});

describe('an account that may only work with Deployments', () => {
  it.each([['status'], ['status', '-w'], ['explain', 'deployment/cart'], ['preview']])(
    'learns which right it needs, instead of a wrong answer: %s %s',
    async (...args) => {
      const { code, stdout, stderr } = await asWorker(...args);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^lumigo: lumigoes\.\S+ is forbidden: User .* cannot list resource "lumigoes"/m);
    },
  );
});

describe('lumigo diagnose', () => {
  const secrets = new RegExp(`${secretValue}|${validToken}|${Buffer.from(validToken).toString('base64')}`);

  it('writes objects, events, conditions and versions, but no value of a Secret or variable', async () => {
    const { testCluster, cluster, installation } = operator;
    await testCluster.merge(deployment, shop, 'out', { metadata: { annotations: { note: validToken } } });
    const file = join(cluster.dir, 'report.yaml');
    writeFileSync(file, '');
    const { code, stderr } = await asAdministrator('diagnose', '--output', file);
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining(`Wrote ${file}`) });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const text = readFileSync(file, 'utf8');
    expect(text).not.toMatch(secrets);
    expect(text).not.toMatch(/BEGIN [A-Z ]*PRIVATE KEY/);
    expect(parse(text)).toMatchObject({
      versions: { lumigo: operatorVersion(), kubernetes: { gitVersion: expect.stringMatching(/^v1\./) } },
      checks: expect.arrayContaining([expect.objectContaining({ check: 'manager', result: 'ok' })]),
      operator: [{ namespace: installation.settings.namespace, webhooks: { kind: 'MutatingWebhookConfiguration' } }],
      namespaces: {
        [shop]: {
          lumigoes: [{ status: { instrumentedResourcesCount: 1 } }],
          events: expect.arrayContaining([expect.objectContaining({ reason: 'LumigoAddedInstrumentation' })]),
          deployments: [
            { metadata: { name: 'cart' }, template: { spec: { initContainers: [{ name: 'lumigo-injector' }] } } },
            {},
          ],
        },
      },
    });
  });

  it('writes to a pipe', async () => {
    const pipe = join(operator.cluster.dir, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const [{ stdout }, { code }] = await Promise.all([
      promisify(execFile)('cat', [pipe], { timeout: 60_000 }),
      asAdministrator('diagnose', '-n', shop, '--output', pipe),
    ]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('versions:') });
  });

  it.each([
    ['/nonexistent/report.yaml', 'ENOENT'],
    ['/tmp', 'EISDIR'],
  ])('says in one sentence that it cannot write to %s, before it reads the cluster', async (file, cause) => {
    const { code, stderr } = await asAdministrator('diagnose', '--output', file);
    const sentence = expect.stringMatching(
      new RegExp(`^lumigo: cannot write ${file}\\. .*--output -: ${cause}: .*\\n$`),
    );
    expect({ code, stderr }).toEqual({ code: 1, stderr: sentence });
  });

  it('writes for an editor of one namespace what may be read, and why the rest may not', async () => {
    const { code, stdout } = await asEditor('diagnose', '-n', shop, '--output', '-');
    expect(code).toBe(0);
    expect(stdout).not.toMatch(secrets);
    expect(parse(stdout)).toMatchObject({
      operator: { notRead: expect.stringContaining('forbidden') },
      namespaces: { [shop]: { lumigoes: [{}], deployments: [{}, {}] } },
    });
    const secret = { ...kinds.secrets, namespace: shop, name: 'lumigo-credentials' };
    expect(await editor.client.find(secret)).toBeDefined();
  });
});

describe('an account that may only work with Deployments, before an installation', () => {
  it('gets a preview', async () => {
    const { cluster, installation } = operator;
    const [definition] = installation.manifests.filter(({ kind }) => kind === 'CustomResourceDefinition');
    if (definition === undefined) throw new Error('the manifests have no definition');
    await cluster.client.delete(toRef(definition));
    await waitForDeletion(cluster, definition);
    await eventually(async () => {
      const { code, stdout } = await asWorker('preview', '--assume-lumigo');
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/Deployment\/cart +instrument/) });
    });
  });
});
