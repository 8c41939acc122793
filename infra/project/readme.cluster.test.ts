import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { ensureBinaries } from '../../sandbox/programs/build.ts';
import { finished } from '../../sandbox/run.ts';
import { parseSettings } from '../settings/settings.ts';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';

/** Runs the commands in order, in a copy of the repository, against an API server without a node. */
const pages = [
  'README.md',
  ...['start', 'install'].flatMap((folder) =>
    readdirSync(join('docs', folder))
      .filter((file) => file.endsWith('.md'))
      .map((file) => join('docs', folder, file)),
  ),
];

const assumed: Readonly<Record<string, readonly string[]>> = {
  'README.md': [
    'kubectl create namespace my-namespace',
    'kubectl create deployment cart --image=shop/cart --namespace=my-namespace',
  ],
};

const elsewhere: readonly [RegExp, string][] = [
  [/^git clone /, 'the copy of the repository is one'],
  [/^cd /, 'each command runs in the copy'],
  [/^npm (start|test|run sandbox|run --silent sandbox)\b/, 'ci.yml and sandbox/sandbox.cluster.test.ts'],
  [/^npx cdk8s synth --format helm /, 'infra/project/synth.test.ts'],
  [/^npm run cluster:sample$/, 'sandbox/own-cluster/own-cluster.cluster.test.ts'],
  [/^helm (repo add|install lumigo lumigo\/)/, 'infra/release/publish.cluster.test.ts'],
  [/^docker (build|push) /, 'images: sandbox/e2e/release.e2e.test.ts'],
  [/^(kind|minikube) /, 'the sandbox has no such cluster'],
  [/^(while|done|\s+(for|cosign copy|done|echo "not copied))/, 'sandbox/e2e/release.e2e.test.ts'],
  [/^(sha256sum|cosign verify-blob) /, 'infra/release: with the files of a release'],
  [/^helm test |logs job\/\S+-check$/, 'sandbox/e2e/helm.e2e.test.ts: it takes a node'],
  [/(rollout status|wait lumigo|exec deployment)/, 'sandbox/e2e/manifests.e2e.test.ts and others: it takes a node'],
  [/^npm ci$/, 'sandbox/install.test.ts'],
  [
    /^(operator-sdk|kubectl (delete subscription|patch serviceaccount))\b/,
    'infra/olm/bundle.cluster.test.ts: it takes OLM',
  ],
  [/^pulumi (login|stack|up|destroy)/, "infra/pulumi/stack.cluster.test.ts: Pulumi's engine is in no package registry"],
];

/** Some commands need other arguments because the cluster has no node, and is neither kind nor minikube. */
const adapted: readonly [RegExp, string][] = [
  [/^helm delete /, ' --no-hooks'],
  [/^kubectl create namespace lumigo-system$/, ' --dry-run=client'],
  // The objects are those of the release that the page installed before.
  [/^helm template /, ' --force-conflicts'],
  [/^npm run cluster:install$/, ' -- --image registry.example.com/operator:0.1.0 --yes --no-wait'],
];
/** A release is tested before its chart is published, so the chart of the copy is in its place. */
const adapt = (command: string): string =>
  command.replace(/ (oci:\/\/\S+|lumigo)\/(?=lumigo-operator )/, ' dist/chart/') +
  adapted.flatMap(([pattern, args]) => (pattern.test(command) ? [args] : [])).join('');

const getBlocks = (page: string, language: string): string[] =>
  [...readFileSync(page, 'utf8').matchAll(new RegExp(`\`\`\`${language}\\n([^\`]*)\`\`\``, 'g'))].map(
    ([, block = '']) => block,
  );
const getCommands = (page: string): string[] =>
  getBlocks(page, 'sh').flatMap((block) =>
    block
      .replace(/\\\n\s*/g, '')
      .trim()
      .split('\n'),
  );
const runsHere = (command: string): boolean => !elsewhere.some(([pattern]) => pattern.test(command));

const getOwnCommands = (page: string): string[] =>
  getCommands(page).filter((command) => runsHere(command) && !command.startsWith('pulumi '));

/** Omits a page whose commands begin an earlier page. */
const runPages = pages.filter((page, index) => {
  const text = getOwnCommands(page).join('\n');
  return text !== '' && !pages.slice(0, index).some((earlier) => getOwnCommands(earlier).join('\n').startsWith(text));
});

/** These commands write the same files for each page. The page of a published operator needs no `npm run chart`, so it runs before. */
const written = new Set(['npm run chart']);

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Readonly<Record<string, string>> };

/** Less than a test's limit: a command that hangs is killed, and its output is shown. */
const COMMAND_MS = 300_000;
const PAGE_MS = 600_000;

const folder = createTemporaryFolder();
let copy: string;
let tools: string;

beforeAll(async () => {
  copy = join(folder, 'copy');
  tools = join(folder, 'bin');
  for (const file of listFiles()) cpSync(file, join(copy, file));
  for (const each of [tools, join(copy, 'node_modules')]) mkdirSync(each);
  // With a link to the whole folder, an installation in the copy would delete the packages of the repository.
  for (const name of readdirSync('node_modules'))
    symlinkSync(resolve('node_modules', name), join(copy, 'node_modules', name));
  for (const [name, path] of Object.entries(await ensureBinaries(['helm', 'kubectl'])))
    symlinkSync(path, join(tools, name));
  for (const command of written) await run(command, '');
});

function listFiles(): readonly string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout } = spawnSync('git', args, { encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 });
  return stdout.split('\0').filter((file) => file !== '' && existsSync(file));
}

async function run(command: string, kubeconfig: string): Promise<void> {
  const env = {
    ...process.env,
    PATH: [tools, process.env['PATH']].join(delimiter),
    KUBECONFIG: kubeconfig,
    HELM_CACHE_HOME: join(folder, 'cache'),
    HELM_CONFIG_HOME: join(folder, 'config'),
    HELM_DATA_HOME: join(folder, 'data'),
    npm_config_prefer_offline: 'true',
  };
  const child = spawn('sh', ['-euc', command], { cwd: copy, stdio: ['ignore', 'pipe', 'pipe'], env, detached: true });
  const timer = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), COMMAND_MS);
  const { code, stdout, stderr } = await finished(child);
  clearTimeout(timer);
  expect([command, code, code === 0 ? '' : stdout + stderr]).toEqual([command, 0, '']);
}

function saveFiles(page: string): void {
  for (const block of getBlocks(page, 'yaml')) {
    const [, name] = /^# (\S+\.yaml)\n/.exec(block) ?? [];
    if (name === undefined) continue;
    mkdirSync(dirname(join(copy, name)), { recursive: true });
    writeFileSync(join(copy, name), block);
  }
}

describe('the commands of a page', () => {
  let cluster: ControlPlane;
  beforeAll(async () => {
    cluster = await startControlPlane();
  });
  afterAll(() => cluster?.stop());

  afterEach(() =>
    run('helm delete lumigo --namespace lumigo-system --no-hooks --ignore-not-found', cluster.kubeconfig),
  );

  it.each(pages)('%s: a fresh copy needs no other [F52, F79]', (page) => {
    const commands = getCommands(page);
    const first = commands.find((command) => /^npm (run|start|test)\b/.test(command));
    const script = scripts[first?.replace(/^npm (run )?(--silent )?/, '').split(' ')[0] ?? ''];
    if (first !== undefined && !commands.includes('npm ci')) expect(script).toMatch(/^node sandbox\/install\.mjs && /);
  });

  it.each(runPages)(
    '%s: run unchanged in order [F52, F79]',
    async (page) => {
      const kubeconfig = cluster.kubeconfig;
      saveFiles(page);
      for (const command of assumed[page] ?? []) await run(command, kubeconfig);
      for (const command of getOwnCommands(page))
        if (!written.has(command)) {
          await run(adapt(command), kubeconfig);
          if (command === 'npm run olm') written.add(command);
        }
    },
    PAGE_MS,
  );

  it('configure Pulumi with settings that exist', () => {
    const configured = pages.flatMap(getCommands).filter((command) => /^pulumi config set .*settings\./.test(command));
    expect(configured.length).toBeGreaterThan(0);
    for (const command of configured) {
      const [, path = '', value = ''] = /--path '?settings\.(\S+?)'? (\S+)/.exec(command) ?? [];
      const given = path.split(/[.[\]]+/).reduceRight<unknown>((inner, key) => nest(key, inner), value);
      expect(() => parseSettings(given)).not.toThrow();
    }
  });
});

const nest = (key: string, inner: unknown): unknown => (/^\d+$/.test(key) ? [inner] : { [key]: inner });
