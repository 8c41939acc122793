import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, jest } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { chartMetadata } from '../helm/chart-texts.ts';
import { synthesize } from '../operator.ts';
import { getNotices } from '../settings/notices.ts';
import { parseSettings } from '../settings/settings.ts';
import { tracesIn } from '../../sandbox/testing/arbitrary/misplaced-tokens.ts';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const cli = join(dirname(createRequire(import.meta.url).resolve('cdk8s-cli/package.json')), 'bin', 'cdk8s');
jest.setTimeout(60_000);
const notice = getNotices(parseSettings({}))
  .map((line) => `${line}\n`)
  .join('');

const folder = createTemporaryFolder();

function runCli(cwd: string, settings: string, ...options: readonly string[]) {
  return spawnSync(process.execPath, [cli, 'synth', '--check-upgrade=false', ...options], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, LUMIGO_SETTINGS: settings, NODE_OPTIONS: '' },
  });
}

function synth(output: string, settings = '', ...options: readonly string[]) {
  const out = join(folder, output);
  return { ...runCli(root, settings, '--output', out, ...options), files: filesIn(out) };
}

function filesIn(folder: string): Readonly<Record<string, string>> {
  if (!existsSync(folder)) return {};
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(paths.map((path) => [relative(folder, path), readFileSync(path, 'utf8')]));
}

const documentsIn = (text: string): unknown[] => parseAllDocuments(text).map((document) => document.toJS() as unknown);

describe('cdk8s synth', () => {
  it("writes what synthesize returns, with the settings of a file, also beside another author's Chart.yaml", () => {
    const settings = { namespace: 'observability', monitoredNamespaces: [{ namespace: 'shop' }] };
    const file = join(folder, 'settings.json');
    writeFileSync(file, JSON.stringify(settings));
    const own = join(folder, 'own');
    mkdirSync(own);
    writeFileSync(join(own, 'Chart.yaml'), 'name: own\nversion: 1.0.0\ndescription: Ours\n');
    const { status, stderr, files } = synth(join('own', 'templates'), file);
    expect([status, stderr]).toEqual([0, notice]);
    expect(Object.keys(files)).toEqual(['Kustomization', 'lumigo-operator.k8s.yaml']);
    expect(documentsIn(files['lumigo-operator.k8s.yaml'] ?? '')).toEqual(synthesize(parseSettings(settings)));
    expect(readdirSync(own).toSorted()).toEqual(['Chart.yaml', 'templates']);
  });

  it('writes nothing with invalid settings, fails, and reports every problem but no token [F77]', () => {
    const file = join(folder, 'wrong.yaml');
    const token = '0123456789abcdef01234';
    writeFileSync(file, `replicas: 3\nplatform: eks\nlumigoToken: { valeu: t_${token} }\n`);
    const { status, stdout, stderr, files } = synth('wrong', file);
    expect([status, tracesIn(stdout + stderr, token)]).toEqual([1, []]);
    expect(stderr).toContain(
      `The settings file ${file} cannot be used:\n` +
        '  - platform must be one of auto, kubernetes, openshift, but is "eks"\n' +
        '  - lumigoToken has a key that is not a setting; it is not shown, because it may be a token\n' +
        '  - replicas is not a setting; did you mean controllerManager.replicas?\n',
    );
    expect(files).toEqual({});
  });
});

describe('npm run synth', () => {
  it('reads settings from its folder, keeps other files there, and changes nothing if a setting is wrong', () => {
    const cluster = join(folder, 'cluster');
    const file = join(cluster, 'lumigo-settings.yaml');
    const run = (settings: string) => {
      writeFileSync(file, settings);
      const env = { ...process.env, LUMIGO_SETTINGS: file, NODE_OPTIONS: '' };
      return spawnSync('npm', ['run', '-s', 'synth', '--', '--output', cluster], { cwd: root, encoding: 'utf8', env });
    };
    mkdirSync(cluster);
    writeFileSync(join(cluster, 'patch.yaml'), 'kind: Namespace\n');
    const { status, stdout, stderr } = run('namespace: observability\n');
    const written = filesIn(cluster);
    expect([status, stdout, stderr]).toEqual([0, `${join(cluster, 'lumigo-operator.k8s.yaml')}\n`, notice]);
    const { 'lumigo-operator.k8s.yaml': manifests = '', Kustomization: _list, ...others } = written;
    expect(documentsIn(manifests)).toEqual(synthesize(parseSettings({ namespace: 'observability' })));
    expect(others).toEqual({ 'lumigo-settings.yaml': 'namespace: observability\n', 'patch.yaml': 'kind: Namespace\n' });
    expect(run('replicas: 3\n').status).toBe(1);
    expect(filesIn(cluster)).toEqual({ ...written, 'lumigo-settings.yaml': 'replicas: 3\n' });
  });
});

describe('cdk8s synth --stdout', () => {
  it('prints the objects of the installation, and nothing else', () => {
    // Without another folder it would clear the output folder of cdk8s.yaml.
    const { status, stdout } = runCli(folder, '', '--stdout', '--app', `cd ${root} && node --import tsx infra/main.ts`);
    expect([status, documentsIn(stdout)]).toEqual([0, synthesize(parseSettings({}))]);
  });
});

describe('cdk8s synth --format helm', () => {
  const helm = (version: string) => ['--format', 'helm', '--chart-version', version];

  it('writes the chart of `npm run chart`, with the given version [F57]', () => {
    const version = '7.8.9';
    const { status, stderr, files } = synth('synthesized', '', ...helm(version));
    expect([status, stderr]).toEqual([0, notice]);
    const { 'Chart.yaml': metadata = '', ...others } = files;
    const { 'Chart.yaml': _committed, ...rendered } = filesIn(join(root, 'infra', 'renderings', 'chart'));
    expect(others).toEqual(rendered);
    expect(parse(metadata)).toEqual(chartMetadata(undefined, version));
  });

  it('refuses settings, which a chart takes later, and writes nothing [F57]', () => {
    const file = join(folder, 'for-a-chart.yaml');
    writeFileSync(file, 'debug: { enabled: true }\n');
    const { status, stderr, files } = synth('refused', file, ...helm('1.0.0'));
    expect([status, files]).toEqual([1, {}]);
    expect(stderr).toContain(
      `The settings file ${file} cannot be used:\n  - a chart gets its settings when it is installed. Unset LUMIGO_SETTINGS, and ` +
        'pass the file to `helm install --values`\n',
    );
  });
});

describe('synthesize', () => {
  it('returns objects in the order in which to apply them', () => {
    const kinds = synthesize(parseSettings({ monitoredNamespaces: [{ namespace: 'shop' }] })).map(({ kind }) => kind);
    const order = (kind: string): number => kinds.indexOf(kind);
    expect(order('Namespace')).toBe(0);
    expect(order('CustomResourceDefinition')).toBe(1);
    for (const needed of ['ServiceAccount', 'ConfigMap', 'PriorityClass'])
      expect(order(needed)).toBeLessThan(order('Deployment'));
    expect(order('MutatingWebhookConfiguration')).toBeGreaterThan(order('Deployment'));
    expect(kinds.at(-1)).toBe('MutatingWebhookConfiguration');
  });

  it('does not let Argo CD delete the namespace when it leaves the manifests', () => {
    const [namespace] = synthesize(parseSettings({}));
    expect(namespace?.kind).toBe('Namespace');
    expect(namespace?.metadata.annotations).toMatchObject({
      'argocd.argoproj.io/sync-options': 'Prune=false',
      'argocd.argoproj.io/compare-options': 'IgnoreExtraneous',
    });
  });

  it('omits the namespace if it exists already', () => {
    const kinds = synthesize(parseSettings({ createNamespace: false })).map(({ kind }) => kind);
    expect(kinds).not.toContain('Namespace');
  });
});
