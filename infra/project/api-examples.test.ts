import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { runtime } from '@pulumi/pulumi';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';
import { recordResources } from '../../sandbox/testing/pulumi.ts';
import { validToken } from '../../sandbox/testing/test-cluster.ts';
import * as index from '../index.ts';
import * as pulumi from '../pulumi/index.ts';

const exported = Object.entries({ index, pulumi }).flatMap(([entry, values]) =>
  Object.entries<unknown>(values).map(([name, value]) => ({ name: `${entry}-${name}`, value })),
);

const EXAMPLE = /@example\n \* ```ts\n([^]*?) \* ```\n \*\/\nexport (?:class|const|function) (\w+)/g;

/** The programs in comments, by entry point and export. */
const examples = readdirSync('infra', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) => {
    const entry = file.startsWith('pulumi/') ? 'pulumi' : 'index';
    const found = [...readFileSync(join('infra', file), 'utf8').matchAll(EXAMPLE)];
    return found.map(([, text = '', name]) => ({ name: `${entry}-${name}`, text: text.replace(/^ \* ?/gm, '') }));
  });

jest.setTimeout(120_000);
const pages = createTemporaryFolder();
const registered = recordResources();

// A program finds the package by its own name only within the checkout.
mkdirSync('dist', { recursive: true });
const programs = resolve(mkdtempSync(join('dist', 'api-examples-')));
beforeAll(() => {
  for (const { name, text } of examples) writeFileSync(join(programs, `${name}.ts`), text);
});
afterAll(() => rmSync(programs, { recursive: true, force: true }));

function run(args: readonly string[]): string {
  const options = { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, args, options);
  if (status !== 0) throw new Error(`${args.join(' ')} exited with ${status}: ${stdout}${stderr}`);
  return stdout + stderr;
}

/** The effect of each example: a text that it prints or writes, or a resource that it registers with Pulumi. */
const effects: Readonly<Record<string, string>> = {
  'index-Operator': 'kind: MutatingWebhookConfiguration',
  'index-TracedNamespace': 'kind: Lumigo',
  'index-loadSettings': 'The operator runs in the namespace lumigo-system.',
  'index-parseSettings': 'cluster.nam is not a setting; did you mean cluster.name?',
  'pulumi-LumigoOperator': 'lumigo:kubernetes:LumigoOperator',
  'pulumi-TracedNamespace': 'kubernetes:core/v1:Secret',
};
const getEffects = (start: string) => Object.entries(effects).filter(([name]) => name.startsWith(start));

describe('the documentation of the package', () => {
  it('has a page for each export', () => {
    // The lint checks the types of the sources.
    run(['node_modules/typedoc/bin/typedoc', '--out', pages, '--skipErrorChecking']);
    const written = readdirSync(pages, { recursive: true, encoding: 'utf8' }).join('\n');
    for (const { name } of exported) expect(written).toContain(`/${name.replace('-', '.')}.html`);
  });

  it('has an example of each function and of each class that installs or traces', () => {
    expect(examples.map(({ name }) => name).toSorted()).toEqual(Object.keys(effects));
    const isFunction = (value: unknown) => typeof value === 'function' && !String(value).startsWith('class');
    const functions = exported.filter(({ value }) => isFunction(value)).map(({ name }) => name);
    expect(functions.length).toBeGreaterThan(0);
    expect(Object.keys(effects)).toEqual(expect.arrayContaining(functions));
  });

  it('has examples for cdk8s that run', () => {
    const effectOf = runWithCdk8s();
    for (const [name, effect] of getEffects('index-'))
      expect([name, effectOf(name)]).toEqual([name, expect.stringContaining(effect)]);
  });

  it.each(getEffects('pulumi-'))('has an example of %s that runs', async (name, effect) => {
    runtime.setAllConfig({ 'project:lumigoToken': validToken });
    await import(join(programs, `${name}.ts`));
    await runtime.disconnect();
    expect(registered.map(({ type }) => type)).toContain(effect);
  });
});

/** Runs the programs in one process, because each process reads all sources. Returns what it printed, and what one of them wrote. */
function runWithCdk8s(): (name: string) => string {
  const runOne = ([name]: readonly [string, string]) =>
    `process.env['CDK8S_OUTDIR'] = '${join(programs, name)}';\nawait import('./${name}.ts');\n`;
  writeFileSync(join(programs, 'all.ts'), getEffects('index-').map(runOne).join(''));
  const printed = run(['--import', 'tsx', join(programs, 'all.ts')]);
  const read = (folder: string) => readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
  return (name) => printed + (existsSync(join(programs, name)) ? read(join(programs, name)).join('') : '');
}
