import { afterAll, describe, expect, it, jest } from '@jest/globals';
import { runtime } from '@pulumi/pulumi';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';
import { recordResources } from '../../sandbox/testing/pulumi.ts';
import { validToken } from '../../sandbox/testing/test-cluster.ts';

interface Part {
  readonly kind: string;
  readonly text: string;
}

/** An entry of typedoc's JSON: a module, class or function. */
interface Documented {
  readonly name: string;
  readonly kind: number;
  readonly comment?: { readonly blockTags?: readonly { readonly tag: string; readonly content: readonly Part[] }[] };
  readonly signatures?: readonly Documented[];
  readonly children?: readonly Documented[];
}

const FUNCTION = 64;
jest.setTimeout(120_000);
const pages = createTemporaryFolder();
const registered = recordResources();

// A program finds the package by its own name only within the checkout.
mkdirSync('dist', { recursive: true });
const programs = resolve(mkdtempSync(join('dist', 'api-examples-')));
afterAll(() => rmSync(programs, { recursive: true, force: true }));

function run(args: readonly string[]): string {
  const options = { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, args, options);
  if (status !== 0) throw new Error(`${args.join(' ')} exited with ${status}: ${stdout}${stderr}`);
  return stdout + stderr;
}

/** Writes the pages of `npm run docs:api`, and returns the exports of each entry point. */
function document(): readonly Documented[] {
  const json = join(pages, 'api.json');
  // The lint checks the types of the sources.
  const fast = ['--skipErrorChecking', '--json', json];
  run(['node_modules/typedoc/bin/typedoc', '--out', join(pages, 'html'), ...fast]);
  return (JSON.parse(readFileSync(json, 'utf8')) as Documented).children ?? [];
}

const exampleIn = ({ comment, signatures = [] }: Documented): string | undefined =>
  [comment, signatures[0]?.comment]
    .flatMap((each) => each?.blockTags ?? [])
    .find(({ tag }) => tag === '@example')
    ?.content.map(({ text }) => /```ts\n([^]*)\n```/.exec(text)?.[1] ?? '')
    .join('');

const exported = document().flatMap(({ name, children = [] }) =>
  children.map((child) => ({ name: `${name}-${child.name}`, kind: child.kind, example: exampleIn(child) })),
);
const examples = exported.flatMap(({ name, example }) => (example === undefined ? [] : [{ name, example }]));
for (const { name, example } of examples) writeFileSync(join(programs, `${name}.ts`), `${example}\n`);

/** The effect of each example: a text that it prints or writes, or a resource that it registers with Pulumi. */
const effects: Readonly<Record<string, string>> = {
  'index-Operator': 'kind: MutatingWebhookConfiguration',
  'index-TracedNamespace': 'kind: Lumigo',
  'index-loadSettings': 'The operator runs in the namespace lumigo-system.',
  'index-parseSettings': 'cluster.nam is not a setting; did you mean cluster.name?',
  'pulumi-LumigoOperator': 'lumigo:kubernetes:LumigoOperator',
  'pulumi-TracedNamespace': 'kubernetes:core/v1:Secret',
};

describe('the documentation of the package', () => {
  it('has a page for each export', () => {
    const written = readdirSync(join(pages, 'html'), { recursive: true, encoding: 'utf8' });
    const names = written.filter((path) => path.includes('/')).map((path) => path.replace(/^[^/]+\/(.*)\.html$/, '$1'));
    expect(names).toEqual(expect.arrayContaining(exported.map(({ name }) => name.replace('-', '.'))));
  });

  it('has an example of each function and of each class that installs or traces', () => {
    expect(examples.map(({ name }) => name).toSorted()).toEqual(Object.keys(effects));
    const functions = exported.filter(({ kind }) => kind === FUNCTION).map(({ name }) => name);
    expect(functions.length).toBeGreaterThan(0);
    expect(Object.keys(effects)).toEqual(expect.arrayContaining(functions));
  });

  it('has examples for cdk8s that run', () => {
    const names = examples.map(({ name }) => name).filter((name) => name.startsWith('index-'));
    const effectOf = runWithCdk8s(names);
    for (const name of names)
      expect([name, effectOf(name)]).toEqual([name, expect.stringContaining(effects[name] ?? '')]);
  });

  it.each(Object.keys(effects).filter((name) => name.startsWith('pulumi-')))(
    'has an example of %s that runs',
    async (name) => expect(await runWithPulumi(name)).toContain(effects[name]),
  );
});

/** Runs programs in one process, because each process reads all sources. Returns what it printed, and what one of them wrote. */
function runWithCdk8s(names: readonly string[]): (name: string) => string {
  const runOne = (name: string) =>
    `process.env['CDK8S_OUTDIR'] = '${join(pages, name)}';\nawait import('./${name}.ts');\n`;
  writeFileSync(join(programs, 'all.ts'), names.map(runOne).join(''));
  const printed = run(['--import', 'tsx', join(programs, 'all.ts')]);
  const read = (folder: string) => readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
  return (name) => printed + (existsSync(join(pages, name)) ? read(join(pages, name)).join('') : '');
}

async function runWithPulumi(name: string): Promise<string> {
  runtime.setAllConfig({ 'project:lumigoToken': validToken });
  await import(join(programs, `${name}.ts`));
  await runtime.disconnect();
  return registered.map(({ type }) => type).join();
}
