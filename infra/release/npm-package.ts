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

type Packaged = Pick<Release, 'npm' | 'version' | 'publisher'>;

const files = ['publisher.yaml', 'LICENSE', 'CHANGELOG.md'];

export const COMMAND_FILE = 'bin/main.js';

/** kubectl finds a plugin and its completion by these names. */
const COMPLETION = 'kubectl_complete-lumigo';

/** The name until publisher.yaml has one. Nothing is published under it, so the package is installed from its archive. */
export const UNPUBLISHED_NAME = 'lumigo-kubernetes-operator';
/** The path is relative to a project beside the checkout, as in the package's README. */
export const LOCAL_ARCHIVE = `dist/${UNPUBLISHED_NAME}.tgz`;

/** Returns the README with the installation from a registry instead of a checkout. */
export const getPublishedReadme = (readme: string, name: string): string =>
  readme
    .replace(/<!-- unpublished -->[^]*<!-- \/unpublished -->\n/, '')
    .replaceAll(`../${UNPUBLISHED_NAME}/${LOCAL_ARCHIVE}`, name)
    .replaceAll(`'${UNPUBLISHED_NAME}`, `'${name}`);

/** cdk8s and Pulumi recognize their objects only within one copy, so a user's program must provide it. A program needs only one of the two. */
const shared = /^(cdk8s|constructs|@pulumi\/.+)$/;
const optional = /^@pulumi\//;

/** Packs the compiled constructs, their types, and the operator's program. Returns the archive. @param work a folder that is emptied first */
export async function packageNpm(release: Packaged, folder: string, work = 'dist/npm'): Promise<string> {
  rmSync(work, { recursive: true, force: true });
  const tsc = ['node_modules/typescript/bin/tsc', '--project', 'tsconfig.package.json', '--outDir', work];
  await program(process.execPath, tsc);
  await bundle(join(work, COMMAND_FILE));
  for (const file of files) copyFileSync(file, join(work, file));
  copyFileSync(join('infra', 'release', COMPLETION), join(work, 'bin', COMPLETION));
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
    bin: {
      lumigo: `./${COMMAND_FILE}`,
      'kubectl-lumigo': `./${COMMAND_FILE}`,
      [COMPLETION]: `./bin/${COMPLETION}`,
    },
    dependencies: Object.fromEntries(used.filter(([name]) => !shared.test(name))),
    peerDependencies: Object.fromEntries(peers.map(([name, version]) => [name, `^${version}`])),
    peerDependenciesMeta: Object.fromEntries(
      peers.filter(([name]) => optional.test(name)).map(([name]) => [name, { optional: true }]),
    ),
  };
}

/** The command is a bundle and imports no package. */
function importedPackages(work: string): ReadonlySet<string> {
  const compiled = readdirSync(work, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(js|d\.ts)$/.test(file) && !file.startsWith('bin/'))
    .map((file) => readFileSync(join(work, file), 'utf8'));
  const names = compiled.flatMap((text) => [...text.matchAll(/(?:from|import) '((?:@[^/']+\/)?[^./'][^/']*)/g)]);
  return new Set(names.map(([, name = '']) => name));
}
