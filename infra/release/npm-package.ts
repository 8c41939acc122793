import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bundle } from './bundle.ts';
import { program } from './program.ts';
import type { Release } from './release.ts';

interface Manifest {
  readonly description: string;
  readonly license: string;
  readonly engines: object;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** The part of a release that the package is made from. */
type Packaged = Pick<Release, 'npm' | 'version' | 'publisher'>;

/** Files besides the compiled ones: those that the program reads, and those that every package should have. */
const files = ['publisher.yaml', 'LICENSE', 'CHANGELOG.md'];

/** The operator's program, as a command. */
export const COMMAND_FILE = 'bin/main.js';

/** The package's name until publisher.yaml names one. Nothing is published under it, so it is installed from its archive. */
export const UNPUBLISHED_NAME = 'lumigo-kubernetes-operator';
/** The archive as the package's README names it, relative to a project beside the checkout. */
export const LOCAL_ARCHIVE = `dist/${UNPUBLISHED_NAME}.tgz`;

/** The package's README, which tells how to install it from a checkout, for a package with this name in a registry. */
export const getPublishedReadme = (readme: string, name: string): string =>
  readme
    .replace(/<!-- unpublished -->[^]*<!-- \/unpublished -->\n/, '')
    .replaceAll(`../${UNPUBLISHED_NAME}/${LOCAL_ARCHIVE}`, name)
    .replaceAll(`'${UNPUBLISHED_NAME}`, `'${name}`);

/**
 * The packages that a user's program must share with this one: cdk8s and Pulumi recognize their objects only within one copy.
 * A program that uses one of the two does not need the other.
 */
const shared = /^(cdk8s|constructs|@pulumi\/.+)$/;
const optional = /^@pulumi\//;

/**
 * Packs the constructs, compiled and with their types, for programs of others; and the operator's own program as a command.
 * @param work a folder for what is packed, made anew
 * @returns the archive in `folder`
 */
export async function packageNpm(release: Packaged, folder: string, work = 'dist/npm'): Promise<string> {
  rmSync(work, { recursive: true, force: true });
  const tsc = ['node_modules/typescript/bin/tsc', '--project', 'tsconfig.package.json', '--outDir', work];
  await program(process.execPath, tsc);
  await bundle(join(work, COMMAND_FILE));
  for (const file of files) copyFileSync(file, join(work, file));
  const readme = readFileSync(join('infra', 'README.md'), 'utf8');
  const isPublished = release.npm !== UNPUBLISHED_NAME;
  writeFileSync(join(work, 'README.md'), isPublished ? getPublishedReadme(readme, release.npm) : readme);
  writeFileSync(join(work, 'package.json'), `${JSON.stringify(packageManifest(release, work), undefined, 2)}\n`);
  mkdirSync(folder, { recursive: true });
  const packed = await program('npm', ['pack', resolve(work), '--json', '--pack-destination', folder]);
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  return join(folder, filename);
}

function packageManifest({ npm, version, publisher }: Packaged, work: string) {
  const { description, license, engines, dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
  const imported = importedPackages(work);
  const used = Object.entries(dependencies).filter(([name]) => imported.has(name));
  const peers = used.filter(([name]) => shared.test(name));
  return {
    name: npm,
    version,
    description,
    license,
    ...(publisher.home === ''
      ? {}
      : { homepage: publisher.home, repository: { type: 'git', url: `git+${publisher.home}.git` } }),
    type: 'module',
    engines,
    exports: {
      '.': { types: './infra/index.d.ts', default: './infra/index.js' },
      './pulumi': { types: './infra/pulumi/index.d.ts', default: './infra/pulumi/index.js' },
    },
    // kubectl finds a plugin by its name: `kubectl lumigo`.
    bin: { lumigo: `./${COMMAND_FILE}`, 'kubectl-lumigo': `./${COMMAND_FILE}` },
    dependencies: Object.fromEntries(used.filter(([name]) => !shared.test(name))),
    peerDependencies: Object.fromEntries(peers.map(([name, version]) => [name, `^${version}`])),
    peerDependenciesMeta: Object.fromEntries(
      peers.filter(([name]) => optional.test(name)).map(([name]) => [name, { optional: true }]),
    ),
  };
}

/** The packages that the compiled files import. The command is a bundle and imports none. */
function importedPackages(work: string): ReadonlySet<string> {
  const compiled = readdirSync(work, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(js|d\.ts)$/.test(file) && !file.startsWith('bin/'))
    .map((file) => readFileSync(join(work, file), 'utf8'));
  const names = compiled.flatMap((text) => [...text.matchAll(/(?:from|import) '((?:@[^/']+\/)?[^./'][^/']*)/g)]);
  return new Set(names.map(([, name = '']) => name));
}
