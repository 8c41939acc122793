import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { toolOn, type Tool } from '../../sandbox/e2e/tools.ts';
import { toRef } from '../../sandbox/manager/apply.ts';
import { writeOriginalChart } from '../../sandbox/original/chart.ts';
import { instrumentedByOriginal } from '../../sandbox/original/injected.ts';
import { originalRelease } from '../../sandbox/original/recorded.ts';
import { ensureBinaries } from '../../sandbox/programs/build.ts';
import { runToEnd } from '../../sandbox/run.ts';
import { TestCluster, validToken } from '../../sandbox/testing/test-cluster.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { lumigo, workloadKinds } from '../../runtime/contract.ts';
import type { Workload } from '../../runtime/api/objects.ts';
import { listAll } from '../../runtime/kubernetes/http/client.ts';
import { undefinedIfNotFound } from '../../runtime/kubernetes/http/errors.ts';
import { bundlePath, ensureBundle } from '../release/bundle.ts';
import type { Manifest } from '../constructs/manifest.ts';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';
import { kinds } from '../../runtime/kubernetes/resources/kinds.ts';

/** The real Helm upgrades a release of the original to this chart. No kubelet runs its pods. */
let cluster: ControlPlane;
let testCluster: TestCluster;
let helm: Tool;
const folder = createTemporaryFolder();
const original = join(folder, 'original');
/** `chart.cluster.test.ts` compares it with the constructs. */
const ours = join('infra', 'renderings', 'chart');
beforeAll(async () => {
  writeOriginalChart(original);
  cluster = await startControlPlane({ controllerManager: false });
  testCluster = new TestCluster(cluster.client);
  helm = await toolOn(cluster, 'helm', '--namespace', 'lumigo-system');
});
afterAll(() => cluster?.stop());

const deployment = 'lumigo-lumigo-operator-controller-manager';
const defaulter = { ...kinds.webhooks, name: 'lumigo-lumigo-operator-defaulter-webhook-configuration' };

const given = {
  'cluster.name': 'production',
  'lumigoToken.value': validToken,
  'tolerations.global[0].operator': 'Exists',
  'tolerations.watchdog[0].operator': 'Exists',
  'clusterCollection.metrics.enabled': 'true',
  'targetAllocator.enabled': 'true',
  'endpoint.otlp.logs_url': 'https://logs.example',
};

const settings = Object.entries(given).flatMap(([key, value]) => ['--set', `${key}=${value}`]);

/** The original's defaulting webhook would reject the Lumigo because it does not run here. */
async function lumigoIn(namespace: string): Promise<void> {
  const fail = (failurePolicy: string) =>
    cluster.client.patch(defaulter, {
      kind: 'json',
      operations: [{ op: 'replace', path: '/webhooks/0/failurePolicy', value: failurePolicy }],
    });
  await fail('Ignore');
  await eventually(() => testCluster.lumigo(namespace));
  await fail('Fail');
}

async function uids(): Promise<unknown[]> {
  const secret = { ...kinds.secrets, namespace: 'lumigo-system', name: 'lumigo-credentials' };
  const own = { ...kinds.deployments, namespace: 'lumigo-system', name: deployment };
  const definition = { ...kinds.customResourceDefinitions, name: 'lumigoes.operator.lumigo.io' };
  const kept = await Promise.all([secret, own, definition].map((ref) => cluster.client.get(ref)));
  const { metadata } = await testCluster.readLumigo('shop');
  return [metadata, ...kept.map((object) => object.metadata)].map(({ uid }) => uid);
}

const containers = async () => {
  const { spec } = await testCluster.toTemplate(workloadKinds.deployment, 'lumigo-system', deployment);
  return spec.containers.map(({ name }) => name).toSorted();
};

const toKey = ({ kind, metadata }: Manifest) => `${kind}/${metadata.name}`;
const manifest = (): Manifest[] =>
  parseAllDocuments(helm('get', 'manifest', 'lumigo')).map((document) => document.toJS() as Manifest);

const isOfCluster = (kind: string) => /^(Cluster|CustomResource|Mutating|Priority|Validating)/.test(kind);

async function present(objects: readonly Manifest[]): Promise<string[]> {
  const found = await Promise.all(
    objects.map(async (object) => {
      const ref = { ...toRef(object), ...(isOfCluster(object.kind) ? {} : { namespace: 'lumigo-system' }) };
      const isThere = await cluster.client.get(ref).catch(undefinedIfNotFound);
      return isThere === undefined ? [] : [toKey(object)];
    }),
  );
  return found.flat();
}

describe('a release without the definition of Lumigo resources', () => {
  it('is upgraded to this chart, for example by a parent chart', () => {
    const parent = join(folder, 'parent');
    mkdirSync(parent);
    writeFileSync(join(parent, 'Chart.yaml'), 'apiVersion: v2\nname: parent\nversion: 1.0.0\n');
    helm('install', 'parent', parent, '--create-namespace');
    expect(helm('upgrade', 'parent', ours, '--dry-run=server')).toContain('is installed in the namespace');
    helm('delete', 'parent');
  });
});

describe('a release of the original operator [F51]', () => {
  let before: unknown;
  let notes = '';

  it('shows by `lumigo preview` before any change that no pod restarts', async () => {
    await testCluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
    helm('install', 'lumigo', original, '--create-namespace', '--no-hooks', ...settings);
    await lumigoIn('shop');
    before = await uids();
    for (const kind of [workloadKinds.deployment, workloadKinds.statefulSet])
      await testCluster.create(
        instrumentedByOriginal(createWorkload(kind, 'shop', 'app') as unknown as Workload) as never,
      );
    const at = '2025-09-18T10:00:00Z';
    const times = { lastTransitionTime: at, lastUpdateTime: at };
    const conditions = [{ type: 'Active', status: 'True', message: 'x', ...times }];
    await cluster.client.patch(
      { ...lumigo, namespace: 'shop', name: 'lumigo', subresource: 'status' },
      { kind: 'merge', body: { status: { conditions, instrumentedResources: [] } } },
    );
    await ensureBundle();
    const args = [bundlePath, '--kubeconfig', cluster.kubeconfig, 'preview', '-n', 'shop'];
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(status).toBe(0);
    expect(stdout).toMatch(/Deployment\/app +relabel/);
    expect(stdout).toMatch(/StatefulSet\/app +relabel/);
  });

  it('is told before that metrics of the infrastructure would end, if no value asks for them', () => {
    const planned = (...flags: readonly string[]) =>
      helm('upgrade', 'lumigo', ours, '--reset-then-reuse-values', '--dry-run=server', ...flags);
    const warning = '! The original operator sends metrics of the infrastructure, and this release does not.';
    expect(planned('--set', 'clusterCollection.metrics.enabled=null')).toContain(warning);
    expect(planned()).not.toContain(warning);
  });

  it('is taken over by one command, and keeps its Lumigo, definition, Secret and Deployment', async () => {
    notes = helm('upgrade', 'lumigo', ours, '--reset-then-reuse-values');
    expect(helm('status', 'lumigo')).toContain('STATUS: deployed');
    expect(await uids()).toEqual(before);
    expect(await containers()).toEqual(['manager', 'telemetry-proxy']);
  });

  it('loses the objects that are no longer needed', async () => {
    const kept = new Set(manifest().map(toKey));
    const idle = originalRelease().objects.filter((object) => !kept.has(toKey(object)));
    expect(idle.length).toBeGreaterThan(20);
    expect(await present(idle)).toEqual([]);
    expect(await present(manifest())).toEqual(manifest().map(toKey));
  });

  it('applies each value that has a counterpart, and names the others once, with advice', () => {
    const warning = notes.slice(notes.indexOf('! These values'));
    expect(notes.split('! These values')).toHaveLength(2);
    expect(warning).toMatch(/tolerations\.watchdog: .*\n\s+targetAllocator: /);
    expect(warning).not.toContain('clusterCollection');
    expect(manifest().map(toKey)).toContain('DaemonSet/lumigo-lumigo-operator-node-collector');
    const [own] = manifest().filter(({ kind }) => kind === 'Deployment');
    expect(own?.['spec']).toMatchObject({ template: { spec: { tolerations: [{ operator: 'Exists' }] } } });
    expect(JSON.stringify(own)).toContain('https://logs.example');
  });

  it('returns by a rollback, with its Lumigo resources', async () => {
    helm('rollback', 'lumigo', '1', '--no-hooks');
    expect(await uids()).toEqual(before);
    expect(await containers()).toEqual(['events-scraper', 'kube-rbac-proxy', 'manager', 'namespace-config-server']);
    const { objects } = originalRelease();
    expect(await present(objects)).toEqual(objects.map(toKey));
  });

  it('is taken over again after that', async () => {
    helm('upgrade', 'lumigo', ours, '--reset-then-reuse-values');
    expect(await uids()).toEqual(before);
    expect(await containers()).toEqual(['manager', 'telemetry-proxy']);
  });
});

// It begins with the release that the tests before have left.
describe('a release of the original operator, and plain YAML [F51]', () => {
  const page = readFileSync('docs/migrate-from-original.md', 'utf8');
  const section = page.slice(page.indexOf('## As plain YAML'), page.indexOf('## With GitOps'));
  const getBlocks = (type: string) =>
    [...section.matchAll(RegExp(`\`\`\`${type}\n([^\`]*)\`\`\``, 'g'))].map(([, block = '']) => block);
  const cwd = join(folder, 'checkout');
  const bin = join(folder, 'bin');

  async function run(block: string): Promise<string> {
    const PATH = [bin, process.env['PATH']].join(delimiter);
    const env = { ...process.env, PATH, KUBECONFIG: cluster.kubeconfig };
    const { code, stdout, stderr } = await runToEnd('sh', ['-euc', block], { cwd, env });
    expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
    return stdout;
  }

  it('is replaced by the steps of the migration page: definition and resources keep their uid', async () => {
    // The commands need a checkout that they may write to.
    for (const each of [cwd, bin]) mkdirSync(each);
    for (const entry of readdirSync('.').filter((name) => !['dist', '.git'].includes(name)))
      symlinkSync(resolve(entry), join(cwd, entry));
    symlinkSync((await ensureBinaries(['kubectl']))['kubectl'] ?? '', join(bin, 'kubectl'));
    helm('rollback', 'lumigo', '1', '--no-hooks');
    const [resource, , , original] = await uids();
    const blocks = getBlocks('sh');
    expect(blocks).toHaveLength(2);
    for (const block of blocks) await run(block);
    const [kept, , , definition] = await uids();
    expect([kept, definition]).toEqual([resource, original]);
  });

  it('lists every object of the original that stays unused, and none in use', async () => {
    const file = readFileSync(join(cwd, 'dist', 'manifests', 'lumigo-operator.k8s.yaml'), 'utf8');
    const used = new Set(parseAllDocuments(file).map((document) => toKey(document.toJS() as Manifest)));
    const others = originalRelease().objects.filter((object) => !used.has(toKey(object)) && object.kind !== 'Secret');
    const listed = (await run(getBlocks('console').join('').replaceAll(' get ', ' get -o name '))).trim().split('\n');
    const unused = (await present(others)).map((key) => key.toLowerCase());
    expect(listed.map((line) => line.replace(/\..*\//, '/')).toSorted()).toEqual(unused.toSorted());
    expect(unused.length).toBeGreaterThan(20);
  });

  it('leaves the new pods, none of the original’s, and no release that Helm knows', async () => {
    const names = async (ref: Parameters<typeof listAll>[1]) =>
      (await listAll(cluster.client, ref)).map(({ metadata }) => metadata.name);
    expect(await names({ ...kinds.deployments, namespace: 'lumigo-system' })).toEqual([deployment]);
    expect(await containers()).toEqual(['manager', 'telemetry-proxy']);
    expect(await names(kinds.webhooks)).toEqual(['lumigo-lumigo-operator-injector-webhook']);
    expect(JSON.parse(helm('list', '--all', '--output', 'json'))).toEqual([]);
  });
});
