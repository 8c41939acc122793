import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runtime } from '@pulumi/pulumi';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { chartName } from '../../runtime/contract.ts';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { apply, applyDefinition } from '../../sandbox/manager/apply.ts';
import { ensureBinaries } from '../../sandbox/programs/build.ts';
import { getDefinitions } from '../../sandbox/programs/definitions.ts';
import { recordResources } from '../../sandbox/testing/pulumi.ts';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';
import { validToken } from '../../sandbox/testing/test-cluster.ts';
import type { Manifest } from '../constructs/manifest.ts';
import { synthesize } from '../operator.ts';
import { parseSettings } from '../settings/settings.ts';
import { operatorVersion } from '../settings/version.ts';

const folder = 'examples';
const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
const documentsIn = (text: string): Manifest[] =>
  parseAllDocuments(text, { strict: true }).map((document) => document.toJS() as Manifest);
const examples = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
  /\.(yaml|tf|ts)$/.test(file),
);

const definitions = () => [
  ...synthesize(parseSettings({})).filter(({ kind }) => kind === 'CustomResourceDefinition'),
  ...getDefinitions('argo-cd', ['application-crd']),
  ...getDefinitions('external-secrets', ['externalsecrets']),
  ...getDefinitions('flux', ['ocirepositories']),
];

const registered = recordResources();
let cluster: ControlPlane;
let tools: Readonly<Record<string, string>>;
const work = createTemporaryFolder();
beforeAll(async () => {
  tools = await ensureBinaries(['helm', 'kubectl', 'hclfmt']);
  cluster = await startControlPlane({ controllerManager: false });
  for (const definition of definitions()) await applyDefinition(cluster.client, definition);
  kubectl(['wait', '--for=condition=Established', 'crd', '--all']);
  for (const name of ['my-namespace', 'shop', 'argocd', 'flux-system'])
    await apply(cluster.client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
});
afterAll(() => cluster?.stop());

function run(program: string, args: readonly string[], input = ''): string {
  const command = tools[program] ?? '';
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', input, maxBuffer: 64 * 1024 * 1024 });
  expect([command, status, status === 0 ? '' : stderr]).toEqual([command, 0, '']);
  return stdout;
}

const kubectl = (args: readonly string[], input?: string): string =>
  run('kubectl', ['--kubeconfig', cluster.kubeconfig, ...args], input);

/** A server-side dry run in which an unknown field is an error. */
function dryRun(objects: readonly object[]): void {
  const list = { apiVersion: 'v1', kind: 'List', items: objects };
  kubectl(['apply', '--server-side', '--dry-run=server', '--validate=strict', '-f', '-'], JSON.stringify(list));
}

interface Installed {
  readonly chart: unknown;
  readonly version: unknown;
  readonly values: unknown;
}

function inDocuments(text: string, { chart, version, values }: Readonly<Record<keyof Installed, string>>): Installed {
  const at = (path: string) =>
    path.split('.').reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], documentsIn(text));
  return { chart: at(chart), version: at(version), values: at(values) };
}

const argoCd = { chart: '0.spec.source.chart', version: '0.spec.source.targetRevision' };
const helmfile = { chart: '0.releases.0.chart', version: '0.releases.0.version', values: '0.releases.0.values.0' };

/** The examples that install the chart: where each tool has its name, its version and its values. */
const installations: Readonly<Record<string, (text: string) => Installed>> = {
  'argo-cd.yaml': (text) => inDocuments(text, { ...argoCd, values: '0.spec.source.helm.valuesObject' }),
  'flux.yaml': (text) =>
    inDocuments(text.replace('.x', '.0'), {
      chart: '0.spec.url',
      version: '0.spec.ref.semver',
      values: '1.spec.values',
    }),
  'helmfile.yaml': (text) => inDocuments(text, helmfile),
  'terraform/main.tf': (text) => ({
    chart: /chart += "(oci:\/\/.*?)"/.exec(text)?.[1],
    version: /version += "(\d+\.\d+\.\d+)"/.exec(text)?.[1],
    values: parse(/<<-YAML\n([^]*?)\n +YAML\n/.exec(text)?.[1] ?? '!'),
  }),
};

/** The public list of tests has no definition of these kinds. Their values are rendered. */
const undefinedKinds = ['HelmRelease'];
const applied = examples.filter((file) => file.endsWith('.yaml') && file !== 'helmfile.yaml');

describe('an example', () => {
  it('is in the table of examples/README.md', () => {
    const linked = [...read('README.md').matchAll(/\]\((?!\.\.)([^)]+)\)/g)].map(([, file]) => file);
    expect(linked.toSorted()).toEqual(examples.toSorted());
    for (const file of examples) expect(read(file)).toMatch(/^(#|\/\/) \S.*\.?\n/);
  });

  it('has objects that an API server accepts, if it is YAML', () => {
    const objects = applied.map((file) => documentsIn(read(file)).filter(({ kind }) => !undefinedKinds.includes(kind)));
    expect(objects.filter((each) => each.length === 0)).toEqual([]);
    dryRun(objects.flat());
  });

  it.each(Object.keys(installations))('%s installs the chart with values that it accepts', (file) => {
    const { chart, version, values } = installations[file]?.(read(file)) ?? {};
    expect([String(chart).split('/').at(-1), version]).toEqual([chartName, operatorVersion()]);
    expect(values).toMatchObject({ cluster: { name: 'production' } });
    const given = join(work, `${file.replaceAll('/', '-')}.json`);
    writeFileSync(given, JSON.stringify(values));
    const token = ['--set', `lumigoToken.value=${validToken}`];
    const release = ['template', 'lumigo', join('infra', 'renderings', 'chart'), '-n', 'lumigo-system'];
    const rendered = run('helm', [...release, '-f', given, ...token]);
    expect(documentsIn(rendered).map(({ kind }) => kind)).toContain('Deployment');
  });

  // Each of these corrects what differs from the chart, also a certificate that the operator renewed.
  it.each(['argo-cd.yaml', 'flux.yaml'])('%s lets the operator issue the certificate', (file) => {
    expect(installations[file]?.(read(file)).values).toMatchObject({ certificates: { issuer: 'operator' } });
  });

  it('terraform/main.tf has the syntax of Terraform, formatted', () => {
    const file = resolve(folder, 'terraform', 'main.tf');
    run('hclfmt', ['-check', '-require-no-change', file]);
  });

  it('cdk8s/main.ts writes objects that an API server accepts', async () => {
    const out = join(work, 'cdk8s');
    process.env['CDK8S_OUTDIR'] = out;
    await import('../../examples/cdk8s/main.ts');
    const [operator = [], shop = []] = readdirSync(out)
      .toSorted()
      .map((file) => documentsIn(readFileSync(join(out, file), 'utf8')));
    expect(operator).toEqual(synthesize(parseSettings({ cluster: { name: 'production' } })));
    expect(shop.map(({ kind }) => kind)).toEqual(['Namespace', 'ExternalSecret', 'Lumigo']);
    dryRun(shop);
  });

  it('pulumi/index.ts registers the operator and a traced namespace', async () => {
    runtime.setAllConfig({ 'project:lumigoToken': validToken });
    await import('../../examples/pulumi/index.ts');
    await runtime.disconnect();
    const types = registered.map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(['lumigo:kubernetes:LumigoOperator', 'kubernetes:core/v1:Secret']));
    const lumigo = registered.find(({ type }) => type.endsWith(':Lumigo'));
    dryRun([lumigo?.inputs ?? {}]);
  });
});
