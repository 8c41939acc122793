import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from '../bundle.ts';
import { program } from './program.ts';
import type { Release } from './release.ts';

interface Manifest {
  readonly description: string;
  readonly license: string;
  readonly engines: object;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** Beside what is compiled: what that reads, and what a package is expected to have. */
const files = ['publisher.yaml', 'LICENSE', 'README.md', 'CHANGELOG.md'];

/**
 * Packs the constructs, compiled and with their types, for programs of others; and the operator's own program as a command.
 * @param work a folder for what is packed, made anew
 * @returns the archive in `folder`
 */
export async function packageNpm(release: Release, folder: string, work = 'dist/npm'): Promise<string> {
  rmSync(work, { recursive: true, force: true });
  await program(process.execPath, [
    'node_modules/typescript/bin/tsc',
    '--project',
    'tsconfig.package.json',
    '--outDir',
    work,
  ]);
  await bundle(join(work, 'bin', 'main.js'));
  writeFileSync(join(work, 'bin', 'lumigo-operator.js'), "#!/usr/bin/env node\nimport './main.js';\n");
  for (const file of files) copyFileSync(file, join(work, file));
  writeFileSync(join(work, 'package.json'), `${JSON.stringify(packageManifest(release, work), undefined, 2)}\n`);
  mkdirSync(folder, { recursive: true });
  const packed = await program('npm', ['pack', `./${work}`, '--json', '--pack-destination', folder]);
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  return join(folder, filename);
}

function packageManifest({ npm, version, publisher }: Release, work: string) {
  const { description, license, engines, dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
  const used = importedPackages(work);
  return {
    name: npm,
    version,
    description,
    license,
    homepage: publisher.home,
    repository: { type: 'git', url: `git+${publisher.home}.git` },
    type: 'module',
    engines,
    exports: { '.': { types: './infra/index.d.ts', default: './infra/index.js' } },
    bin: { 'lumigo-operator': './bin/lumigo-operator.js' },
    dependencies: Object.fromEntries(Object.entries(dependencies).filter(([name]) => used.has(name))),
  };
}

/** What the compiled files import that is none of them. The command has its own in it. */
function importedPackages(work: string): ReadonlySet<string> {
  const compiled = readdirSync(work, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(js|d\.ts)$/.test(file) && !file.startsWith('bin/'))
    .map((file) => readFileSync(join(work, file), 'utf8'));
  const names = compiled.flatMap((text) => [...text.matchAll(/(?:from|import) '((?:@[^/']+\/)?[^./'][^/']*)/g)]);
  return new Set(names.map(([, name = '']) => name));
}
