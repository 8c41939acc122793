import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../programs/cache.ts';
import { tool } from './tool.ts';

const storage = (): string => join(cacheFolder(process.env), 'images', 'storage');

const buildah = (...args: readonly string[]): Promise<void> =>
  tool('buildah', '--root', storage(), '--runroot', `${storage()}-run`, '--storage-driver', 'overlay', ...args);

export interface BuildOptions {
  readonly name: string;
  readonly dockerfile: string;
  /** The folder that COPY and ADD copy from. */
  readonly context: string;
  readonly target?: string;
  readonly args?: Readonly<Record<string, string>>;
  /** Stages that are not built but stand ready in the context, by name. */
  readonly stages?: readonly string[];
}

/** Builds an image from a Dockerfile, without an engine and without a registry. */
export async function buildImage(options: BuildOptions): Promise<void> {
  const { name, dockerfile, context, target, args = {}, stages = [] } = options;
  await buildah(
    'bud',
    '--isolation=chroot',
    '--quiet',
    '--format=oci',
    '--pull=false',
    `--file=${dockerfile}`,
    `--tag=${name}`,
    ...(target === undefined ? [] : [`--target=${target}`]),
    ...Object.entries(args).map(([key, value]) => `--build-arg=${key}=${value}`),
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
