import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../programs/cache.ts';
import type { Recipe } from './recipes.ts';
import { tool } from './tool.ts';

const storage = (): string => join(cacheFolder(process.env), 'images', 'storage');

export const storedIn = (root: string) => [`--root=${root}`, `--runroot=${root}-run`, '--storage-driver=overlay'];

/** There is neither an engine nor a registry. */
export const buildFlags = ['--isolation=chroot', '--quiet', '--format=oci', '--pull=false'];

const buildah = (...args: readonly string[]): Promise<void> => tool('buildah', ...storedIn(storage()), ...args);

/** Builds an image. @param context the folder for COPY and ADD */
export async function buildImage(recipe: Recipe, context: string): Promise<void> {
  const { name, dockerfile, target, base, stages = [] } = recipe;
  await buildah(
    'bud',
    ...buildFlags,
    `--file=${dockerfile}`,
    `--tag=${name}`,
    ...(target === undefined ? [] : [`--target=${target}`]),
    ...(base === undefined ? [] : [`--build-arg=BASE=${base}`]),
    ...stages.map((stage) => `--build-context=${stage}=${context}`),
    context,
  );
}

export async function saveImage(name: string, archive: string): Promise<void> {
  mkdirSync(join(archive, '..'), { recursive: true });
  rmSync(`${archive}.part`, { force: true });
  await buildah('push', '--quiet', name, `docker-archive:${archive}.part:${name}`);
  renameSync(`${archive}.part`, archive);
}

/** Deletes the layers, because only the files of finished images are needed. */
export async function forgetLayers(): Promise<void> {
  await buildah('rmi', '--all', '--force');
}
