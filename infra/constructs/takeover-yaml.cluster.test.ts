import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { toolOn, type Tool } from '../../sandbox/e2e/tools.ts';
import { writeOriginalChart } from '../../sandbox/original/chart.ts';
import { ensureBinaries } from '../../sandbox/programs/build.ts';
import { TestCluster } from '../../sandbox/testing/test-cluster.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { runToEnd } from '../../sandbox/run.ts';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';

const page = readFileSync('docs/migrate-from-original.md', 'utf8');
const section = page.slice(page.indexOf('## As plain YAML'), page.indexOf('## With GitOps'));
const blocks = [...section.matchAll(/```sh\n([^`]*)```/g)].map(([, block = '']) => block);

let cluster: ControlPlane;
const folder = createTemporaryFolder();
let helm: Tool;
let kubectl: Tool;
let testCluster: TestCluster;
beforeAll(async () => {
  // The commands need a checkout that they may write to.
  for (const entry of readdirSync('.').filter((name) => !['dist', '.git'].includes(name)))
    symlinkSync(resolve(entry), join(folder, entry));
  const { kubectl: program = '' } = await ensureBinaries(['kubectl']);
  mkdirSync(join(folder, 'bin'));
  symlinkSync(program, join(folder, 'bin', 'kubectl'));
  cluster = await startControlPlane();
  testCluster = new TestCluster(cluster.client);
  helm = await toolOn(cluster, 'helm', '--namespace', 'lumigo-system');
  kubectl = await toolOn(cluster, 'kubectl');
});
afterAll(() => cluster?.stop());

async function run(block: string): Promise<void> {
  const env = {
    ...process.env,
    PATH: [join(folder, 'bin'), process.env['PATH']].join(delimiter),
    KUBECONFIG: cluster.kubeconfig,
  };
  const { code, stderr } = await runToEnd('sh', ['-euc', block], { cwd: folder, env });
  expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
}

const getUid = (...object: readonly string[]): string => kubectl('get', ...object, '-o', 'jsonpath={.metadata.uid}');
const definition = ['crd', 'lumigoes.operator.lumigo.io'];
const lumigo = ['lumigo', 'lumigo', '-n', 'shop'];

describe('the original operator and plain YAML [F51]', () => {
  it('is replaced by the steps of the migration page: definition and resources keep their uid', async () => {
    const original = join(folder, 'original');
    writeOriginalChart(original);
    helm('install', 'lumigo', original, '--create-namespace', '--no-hooks');
    // The original's webhook does not run here, and would reject every Lumigo.
    kubectl('delete', 'mutatingwebhookconfiguration', '--all');
    kubectl('create', 'namespace', 'shop');
    await eventually(() => testCluster.lumigo('shop'));
    helm('upgrade', 'lumigo', original, '--no-hooks');
    const before = [getUid(...definition), getUid(...lumigo)];
    expect(blocks).toHaveLength(2);
    for (const block of blocks) await run(block);
    expect([getUid(...definition), getUid(...lumigo)]).toEqual(before);
  });

  it('leaves the new pods, none of the original’s, and no release that Helm knows', () => {
    const containers = 'jsonpath={.items[*].spec.template.spec.containers[*].name}';
    expect(kubectl('get', 'deployments', '-A', '-o', containers).split(' ').toSorted()).toEqual([
      'manager',
      'telemetry-proxy',
    ]);
    expect(JSON.parse(helm('list', '--all', '--output', 'json'))).toEqual([]);
    const webhooks = kubectl('get', 'mutatingwebhookconfiguration', '-o', 'name').trim().split('\n');
    expect(webhooks).toEqual([
      'mutatingwebhookconfiguration.admissionregistration.k8s.io/lumigo-lumigo-operator-injector-webhook',
    ]);
  });
});
