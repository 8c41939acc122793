import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { startControlPlane, type ControlPlane } from '../sandbox/control-plane/control-plane.ts';
import { ensureBinaries } from '../sandbox/programs/build.ts';
import { finished } from '../sandbox/testing/run.ts';
import { parseSettings } from './settings/settings.ts';

/** The blocks of the README and of the first steps, run as they stand, against an API server without a node. */
const blocks = (file: string, language: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(new RegExp(`\`\`\`${language}\\n([^\`]*)\`\`\``, 'g'))].map(
    ([, block = '']) => block,
  );
const commandsOf = (file: string): string[] =>
  blocks(file, 'sh').flatMap((block) =>
    block
      .replace(/\\\n\s*/g, '')
      .trim()
      .split('\n'),
  );
const firstSteps = commandsOf('docs/start/first-steps.md');
const commands = [...commandsOf('README.md'), ...firstSteps];

/** What is not run here, and where it is tried instead. */
const elsewhere: readonly [RegExp, string][] = [
  [/^npm (start|test)$/, 'these are .ci/run'],
  [/^docker build /, 'images: sandbox/e2e/release.e2e.test.ts'],
  [/^(kind|minikube) /, 'no such cluster in the sandbox'],
  [/^(while|done|\s*cosign copy)/, 'sandbox/e2e/release.e2e.test.ts'],
  [/^(sha256sum|cosign verify-blob) /, 'infra/release: with the files of a release'],
  [/(rollout status|wait lumigo|exec deployment)/, 'sandbox/e2e/manifests.e2e.test.ts and others: it takes a node'],
  [/^npm ci$/, 'this is .ci/run'],
  [/^pulumi (stack|up)/, "infra/pulumi/stack.cluster.test.ts: Pulumi's engine is in no package registry"],
];

const isTriedElsewhere = (command: string): boolean => elsewhere.some(([pattern]) => pattern.test(command));

let cluster: ControlPlane;
let folder: string;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lumigo-readme-'));
  const programs = await ensureBinaries(['helm', 'kubectl']);
  mkdirSync(join(folder, 'bin'));
  for (const [name, path] of Object.entries(programs)) symlinkSync(path, join(folder, 'bin', name));
  cluster = await startControlPlane();
  environment = {
    ...process.env,
    PATH: [join(folder, 'bin'), process.env['PATH']].join(delimiter),
    KUBECONFIG: cluster.kubeconfig,
    HELM_CACHE_HOME: join(folder, 'cache'),
    HELM_CONFIG_HOME: join(folder, 'config'),
    HELM_DATA_HOME: join(folder, 'data'),
  };
});
afterAll(async () => {
  await cluster?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const ran = new Set<string>();

/** Less than a test may take: a command that hangs is ended, and shows what it had said. */
const COMMAND_MS = 90_000;

async function run(command: string): Promise<string> {
  ran.add(command);
  const child = spawn('sh', ['-euc', command], { stdio: ['ignore', 'pipe', 'pipe'], env: environment, detached: true });
  const timer = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), COMMAND_MS);
  const { code, stdout, stderr } = await finished(child);
  clearTimeout(timer);
  expect([command, code, code === 0 ? '' : stdout + stderr]).toEqual([command, 0, '']);
  return stdout;
}

/** The command of the README that begins like this, word for word. */
function command(beginning: string): string {
  const found = commands.filter((each) => each.startsWith(beginning));
  expect([beginning, new Set(found).size]).toEqual([beginning, 1]);
  return found[0] ?? '';
}

const deployment =
  'kubectl get --namespace lumigo-system deployment/lumigo-lumigo-operator-controller-manager --output name';

describe('F52: the commands of the README', () => {
  it('install with Helm, from a checkout', async () => {
    await run(command('npm run chart'));
    await run(command('helm install lumigo'));
    await run(deployment);
    await run(command('helm upgrade --install lumigo'));
    const images = await run("kubectl get --namespace lumigo-system deployments --output jsonpath='{..image}'");
    for (const image of images.split(' ')) expect(image).toMatch(/^registry\.example\.com\/mirror\//);
  });

  it('trace a namespace, show what that would change, and explain it', async () => {
    await run(
      'kubectl create namespace my-namespace && kubectl create deployment cart --image shop/cart --namespace my-namespace',
    );
    const [manifest = ''] = blocks('README.md', 'yaml');
    expect(parseAllDocuments(manifest)).toHaveLength(2);
    await run(`kubectl apply -f - <<'END'\n${manifest}\nEND`);
    await run(command('npm run build'));
    expect(await run(command('node dist/runtime/main.js --preview'))).toContain('cart');
    expect(await run(command('node dist/runtime/main.js --explain'))).toContain('cart');
    await run('kubectl delete namespace my-namespace');
  });

  it('make the first steps, there and back', async () => {
    for (const each of firstSteps.filter((step) => !ran.has(step) && !isTriedElsewhere(step))) {
      ran.add(each);
      // Without a node the hook of `helm delete` would wait for its pod.
      await run(each.startsWith('helm delete') ? `${each} --no-hooks --wait` : each);
      if (/ create -f /.test(each)) expect(await run('kubectl -n first-steps get lumigo')).toContain('lumigo');
    }
  });

  it('install as plain YAML, and remove that', async () => {
    await run(command('npx cdk8s synth'));
    await run(command('kubectl apply --server-side'));
    await run(deployment);
    // The namespace comes first, and what is in it goes meanwhile; that is no error, nor is a second try after one that broke off.
    await run(command('kubectl delete --ignore-not-found'));
    await run(command('kubectl delete --ignore-not-found'));
  });

  it('set with Pulumi what are settings', () => {
    const configured = commands.filter((each) => each.startsWith('pulumi config set'));
    expect(configured).toHaveLength(1);
    for (const each of configured) {
      ran.add(each);
      const [, path = '', value = ''] = /--path settings\.(\S+) (\S+)/.exec(each) ?? [];
      const given = path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
      expect(() => parseSettings(given)).not.toThrow();
    }
  });

  it('are all of them: each was run, or stands in the table of what is tried elsewhere', () => {
    const left = commands.filter((each) => !ran.has(each) && !isTriedElsewhere(each));
    expect(left).toEqual([]);
  });
});
