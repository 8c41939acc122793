import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../programs/cache.ts';
import type { Recipe } from './recipes.ts';
import { tool } from './tool.ts';

const storage = (): string => join(cacheFolder(process.env), 'images', 'storage');

const buildah = (...args: readonly string[]): Promise<void> =>
  tool('buildah', '--root', storage(), '--runroot', `${storage()}-run`, '--storage-driver', 'overlay', ...args);

/** Builds an image without an engine and without a registry; `context` is the folder that COPY and ADD copy from. */
export async function buildImage(recipe: Recipe, context: string): Promise<void> {
  const { name, dockerfile, target, base, stages = [] } = recipe;
  await buildah(
    'bud',
    '--isolation=chroot',
    '--quiet',
    '--format=oci',
    '--pull=false',
    `--file=${dockerfile}`,
    `--tag=${name}`,
    ...(target === undefined ? [] : [`--target=${target}`]),
    ...(base === undefined ? [] : [`--build-arg=BASE=${base}`]),
    ...stages.map((stage) => `--build-context=${stage}=${context}`),
    context,
  );
}

/** Writes an image as one file that a node can load. */
export async function saveImage(name: string, archive: string): Promise<void> {
  mkdirSync(join(archive, '..'), { recursive: true });
  rmSync(`${archive}.part`, { force: true });
  await buildah('push', '--quiet', name, `docker-archive:${archive}.part:${name}`);
  renameSync(`${archive}.part`, archive);
}

/** The files of finished images are kept; what they were made of need not be. */
export async function forgetLayers(): Promise<void> {
  await buildah('rmi', '--all', '--force');
}
