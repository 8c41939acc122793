import { beforeAll, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join, resolve } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { ensureBinaries } from '../../sandbox/programs/build.ts';
import { validToken } from '../../sandbox/testing/test-cluster.ts';
import type { Manifest } from '../constructs/manifest.ts';
import { synthesize } from '../operator.ts';
import { publisher } from '../settings/publisher.ts';
import { parseSettings } from '../settings/settings.ts';
import { operatorVersion } from '../settings/version.ts';
import { getPublishedReadme, LOCAL_ARCHIVE, packageNpm, UNPUBLISHED_NAME } from './npm-package.ts';
import { krewManifest } from './krew.ts';
import { program } from './program.ts';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';

interface Plugin {
  readonly spec: {
    readonly platforms: readonly [{ readonly uri: string; readonly sha256: string; readonly bin: string }];
  };
}

const MINUTES_MS = 60_000;
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');

const folder = createTemporaryFolder();
const cwd = join(folder, 'project');
const modules = join(cwd, 'node_modules');
let archive: string;
beforeAll(async () => {
  const release = { version: operatorVersion(), publisher, npm: UNPUBLISHED_NAME };
  archive = await packageNpm(release, folder, join(folder, 'work'));
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'package.json'), JSON.stringify({ name: 'empty', type: 'module', private: true }));
  await install(getSection('cdk8s'));
}, 5 * MINUTES_MS);

const getSection = (kind: 'cdk8s' | 'Pulumi'): string => {
  const readme = readFileSync(join(folder, 'work', 'README.md'), 'utf8');
  return readme.slice(readme.indexOf(`\n## ${kind}\n`)).split('\n## ')[1] ?? '';
};

/** Runs the command of a section of the README. */
async function install(section: string, ...flags: readonly string[]): Promise<void> {
  const [, command = ''] = /```sh\nnpm install (.*)\n```/.exec(section) ?? [];
  const wanted = command.split(' ').map((name) => (name.endsWith(LOCAL_ARCHIVE) ? archive : name));
  const quietly = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'];
  await program('npm', ['install', ...quietly, ...flags, ...wanted], { cwd });
}

/** Compiles and runs the program of a section. */
async function run(section: string, before = '', after = ''): Promise<string> {
  const [, text = ''] = /```ts\n([^`]*)```/.exec(section) ?? [];
  writeFileSync(join(cwd, 'main.ts'), `${before}${text}${after}`);
  const strict = ['--strict', '--module', 'NodeNext', '--target', 'ES2022', '--skipLibCheck'];
  await program(process.execPath, [tsc, ...strict, 'main.ts'], { cwd });
  return program(process.execPath, ['main.js'], { cwd });
}

describe('the README of the npm package', () => {
  const readme = readFileSync(join('infra', 'README.md'), 'utf8');
  const installs = (text: string) => text.match(/^npm install .*/gm) ?? [];

  it('installs nothing from a scope or a name that is not published [F82]', () => {
    expect(installs(readme)).toHaveLength(2);
    for (const command of installs(readme)) expect(command).toMatch(/^npm install \.\.\/\S+\.tgz /);
    expect(readme).not.toContain('@acme');
  });

  it('names the package of the publisher once there is one', () => {
    const published = getPublishedReadme(readme, '@example/operator');
    for (const command of installs(published)) expect(command).toMatch(/^npm install @example\/operator /);
    expect(published).toContain("from '@example/operator/pulumi'");
    expect(published).not.toMatch(/npm run package|\.tgz/);
  });
});

describe('the kubectl plugin', () => {
  it('is the archive of the package, with the program where the manifest for krew says', async () => {
    const release = { version: operatorVersion(), publisher };
    const { spec } = parse(krewManifest(release, archive, 'https://files.example')) as Plugin;
    const [{ uri, sha256, bin }] = spec.platforms;
    expect(uri).toMatch(/^https:\/\/files\.example\/[^/]+\.tgz$/);
    expect(sha256).toBe(createHash('sha256').update(readFileSync(archive)).digest('hex'));
    const plugin = join(folder, 'krew');
    mkdirSync(plugin);
    await program('tar', ['--extract', '--gzip', `--file=${archive}`, `--directory=${plugin}`]);
    symlinkSync(join(plugin, bin), join(plugin, 'kubectl-lumigo'));
    expect(await program(join(plugin, 'kubectl-lumigo'), ['--help'])).toContain('preview');
  });
});

describe('the npm package in an empty project', () => {
  it(
    'synthesizes the installation and a reference to it with cdk8s',
    async () => {
      await run(getSection('cdk8s'));
      expect(readdirSync(modules)).not.toContain('@pulumi');
      for (const command of ['lumigo', 'kubectl-lumigo'])
        expect(await program(join(modules, '.bin', command), ['--help'])).toContain('preview');
      const { kubectl = '' } = await ensureBinaries(['kubectl']);
      const PATH = [join(modules, '.bin'), process.env['PATH']].join(delimiter);
      const completed = await program(kubectl, ['__complete', 'lumigo', 'ex'], { environment: { PATH } });
      expect(completed.split('\n')[0]).toBe('explain');
      const [operator, shop = []] = readdirSync(join(cwd, 'dist'))
        .toSorted()
        .map((file) => parseAllDocuments(readFileSync(join(cwd, 'dist', file), 'utf8')))
        .map((documents) => documents.map((document) => document.toJS() as Manifest));
      expect(operator).toEqual(synthesize(parseSettings({ cluster: { name: 'production' } })));
      expect(shop.map(({ kind }) => kind)).toEqual(['Namespace', 'Lumigo', 'ConfigMap']);
      expect(shop[2]).toMatchObject({ metadata: { namespace: 'shop' }, data: { OTEL_EXPORTER_OTLP_ENDPOINT: proxy } });
    },
    5 * MINUTES_MS,
  );

  it(
    'registers with Pulumi the installation, a traced namespace and the resource that refers to it',
    async () => {
      // npm finds a version of each package. The present ones are not unpacked again, because they have 200 MB.
      await install(getSection('Pulumi'), '--package-lock-only');
      const lock = JSON.parse(readFileSync(join(cwd, 'package-lock.json'), 'utf8')) as { packages: object };
      const installed = Object.keys(lock.packages).filter((path) => /^node_modules\/@pulumi\/[^/]+$/.test(path));
      mkdirSync(join(modules, '@pulumi'));
      for (const path of installed) symlinkSync(resolve(path), join(cwd, path));
      const printed = await run(getSection('Pulumi'), engine, summary);
      const registered = JSON.parse(printed.trim().split('\n').at(-1) ?? '') as { type: string; url?: string }[];
      const types = registered.map(({ type }) => type);
      expect(types).toContain('lumigo:kubernetes:LumigoOperator');
      expect(types.filter((type) => type === 'kubernetes:yaml/v2:ConfigGroup').length).toBeGreaterThan(1);
      expect(types).toContain('kubernetes:operator.lumigo.io/v1alpha1:Lumigo');
      expect(registered).toContainEqual({ type: 'kubernetes:core/v1:ConfigMap', url: proxy });
    },
    5 * MINUTES_MS,
  );
});

const proxy = 'http://lumigo-lumigo-operator-telemetry-proxy-service.lumigo-system.svc.cluster.local';

/** Records the resources that Pulumi's engine would register. The engine is in no package registry. */
const engine = `import { runtime } from '@pulumi/pulumi';
const registered: { type: string; url?: string }[] = [];
await runtime.setMocks({
  newResource: ({ type, name, inputs }) => {
    registered.push({ type, url: inputs['data']?.OTEL_EXPORTER_OTLP_ENDPOINT });
    return { id: name, state: inputs };
  },
  call: () => ({}),
});
runtime.setAllConfig({ 'project:lumigoToken': '${validToken}' });
`;
const summary = `
await runtime.disconnect();
console.log(JSON.stringify(registered));
`;
