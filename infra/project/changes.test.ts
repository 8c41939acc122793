import { beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';

const folder = join('docs', 'contributing', 'changes');
const patches = readdirSync(folder).toSorted();

const sources = ['infra', 'runtime', 'imports', 'package.json', 'tsconfig.json'];
const program = { extends: './tsconfig.json', include: ['comments'], files: ['infra/index.ts', 'runtime/main.ts'] };

/** Programs in comments, which a program outside would write. */
const examples = readdirSync('infra', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) => [...readFileSync(join('infra', file), 'utf8').matchAll(/@example\n \* ```ts\n([^]*?) \* ```/g)])
  .map(([, text = '']) => text.replace(/^ \* ?/gm, ''));

const copy = createTemporaryFolder();
beforeAll(() => {
  for (const source of sources) cpSync(source, join(copy, source), { recursive: true });
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
  writeFileSync(join(copy, 'tsconfig.changes.json'), JSON.stringify(program));
  mkdirSync(join(copy, 'comments'));
  for (const [index, text] of examples.entries()) writeFileSync(join(copy, 'comments', `${index}.ts`), text);
});

const run = (command: string, ...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: copy, encoding: 'utf8' });
  return { status, said: stdout + stderr };
};

describe('the examples of changes in CONTRIBUTING.md', () => {
  it('are seven', () => expect(patches).toHaveLength(7));

  it.each(patches)('%s touches two files at most', (patch) => {
    const touched = readFileSync(join(folder, patch), 'utf8').match(/^\+\+\+ b\/.*$/gm) ?? [];
    expect([1, 2]).toContain(touched.length);
  });

  it('apply to this tree and fit its types, all of them together, as do the examples in comments', () => {
    expect(examples).toHaveLength(6);
    const well = { status: 0, said: '' };
    for (const patch of patches) expect(run('git', 'apply', resolve(folder, patch))).toEqual(well);
    const compiler = join('node_modules', 'typescript', 'bin', 'tsc');
    expect(run(process.execPath, compiler, '--noEmit', '-p', 'tsconfig.changes.json')).toEqual(well);
  }, 120_000);
});
