import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
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
const files = ['publisher.yaml', 'LICENSE', 'CHANGELOG.md'];

/** What stands for the package's name in its README, which is written before anybody publishes it. */
const placeholder = '@acme/operator';

/**
 * What a program of the user's must share with the package, so that there is one of each: cdk8s' constructs know each other, and
 * Pulumi's engine its resources, within one copy. Who uses the one has no need of the other.
 */
const shared = /^(cdk8s|constructs|@pulumi\/.+)$/;
const optional = /^@pulumi\//;

/**
 * Packs the constructs, compiled and with their types, for programs of others; and the operator's own program as a command.
 * @param work a folder for what is packed, made anew
 * @returns the archive in `folder`
 */
export async function packageNpm(release: Release, folder: string, work = 'dist/npm'): Promise<string> {
  rmSync(work, { recursive: true, force: true });
  const tsc = ['node_modules/typescript/bin/tsc', '--project', 'tsconfig.package.json', '--outDir', work];
  await program(process.execPath, tsc);
  await bundle(join(work, 'bin', 'main.js'));
  writeFileSync(join(work, 'bin', 'lumigo-operator.js'), "#!/usr/bin/env node\nimport './main.js';\n");
  for (const file of files) copyFileSync(file, join(work, file));
  const readme = readFileSync(join('infra', 'README.md'), 'utf8');
  writeFileSync(join(work, 'README.md'), readme.replaceAll(placeholder, release.npm));
  writeFileSync(join(work, 'package.json'), `${JSON.stringify(packageManifest(release, work), undefined, 2)}\n`);
  mkdirSync(folder, { recursive: true });
  const packed = await program('npm', ['pack', resolve(work), '--json', '--pack-destination', folder]);
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  return join(folder, filename);
}

function packageManifest({ npm, version, publisher }: Release, work: string) {
  const { description, license, engines, dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
  const imported = importedPackages(work);
  const used = Object.entries(dependencies).filter(([name]) => imported.has(name));
  const peers = used.filter(([name]) => shared.test(name));
  return {
    name: npm,
    version,
    description,
    license,
    homepage: publisher.home,
    repository: { type: 'git', url: `git+${publisher.home}.git` },
    type: 'module',
    engines,
    exports: {
      '.': { types: './infra/index.d.ts', default: './infra/index.js' },
      './pulumi': { types: './infra/pulumi/index.d.ts', default: './infra/pulumi/index.js' },
    },
    bin: { 'lumigo-operator': './bin/lumigo-operator.js' },
    dependencies: Object.fromEntries(used.filter(([name]) => !shared.test(name))),
    peerDependencies: Object.fromEntries(peers.map(([name, version]) => [name, `^${version}`])),
    peerDependenciesMeta: Object.fromEntries(
      peers.filter(([name]) => optional.test(name)).map(([name]) => [name, { optional: true }]),
    ),
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
