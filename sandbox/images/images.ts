import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureBundle } from '../../infra/release/bundle.ts';
import { cacheFolder } from '../programs/cache.ts';
import { releaseLock, takeLock } from '../programs/lock.ts';
import { alive, stopwatch, type Progress } from '../programs/progress.ts';
import { withFolder } from '../with-folder.ts';
import { buildImage, forgetLayers, saveImage } from './buildah.ts';
import { recipes, repository, type Recipe } from './recipes.ts';

const WAIT_MS = 2_000;

export interface ImageArchive {
  readonly archive: string;
  readonly names: readonly string[];
}

/** No pod runs a base, which is built only below a missing image. */
const podImages = recipes.filter(({ name }) => !recipes.some(({ base }) => base === name));

const findMissing = (): readonly Recipe[] => podImages.filter((recipe) => !existsSync(getArchive(recipe)));

export const areImagesBuilt = (): boolean => findMissing().length === 0;

/** Returns the images of a node's pods. Each content is built once, from packages and this repository. */
export async function ensureImages(progress: Progress): Promise<readonly ImageArchive[]> {
  await ensureBundle();
  while (!areImagesBuilt()) await buildMissing(progress);
  return podImages.map((recipe) => ({ archive: getArchive(recipe), names: [recipe.name, ...(recipe.aliases ?? [])] }));
}

async function buildMissing(progress: Progress): Promise<void> {
  const folder = join(cacheFolder(process.env), 'images');
  mkdirSync(folder, { recursive: true });
  const lock = join(folder, 'building');
  if (!takeLock(lock)) {
    progress('images: another process is building them; waiting');
    return sleep(WAIT_MS);
  }
  try {
    const missing = findMissing();
    const bases = recipes.filter(({ name }) => missing.some(({ base }) => base === name));
    for (const recipe of bases) await make(recipe, progress);
    for (const recipe of missing) await build(recipe, progress);
    await forgetLayers();
  } finally {
    releaseLock(lock);
  }
}

async function build(recipe: Recipe, progress: Progress): Promise<void> {
  await make(recipe, progress);
  await alive(
    progress,
    (passed) => `image ${recipe.name}: writing, ${passed} s`,
    () => saveImage(recipe.name, getArchive(recipe)),
  );
}

async function make(recipe: Recipe, progress: Progress): Promise<void> {
  const { name } = recipe;
  const seconds = stopwatch();
  progress(`image ${name}: building, once per machine and content`);
  await alive(
    progress,
    (passed) => `image ${name}: building, ${passed} s`,
    () =>
      withFolder(async (context) => {
        await recipe.prepare(context, progress);
        await buildImage(recipe, context);
      }),
  );
  progress(`image ${name}: built in ${seconds()} s`);
}

function getArchive(recipe: Recipe): string {
  const name = recipe.name.replace(/[:@].*$/, '').replace(/^.*\//, '');
  return join(cacheFolder(process.env), 'images', `${name}-${toKey(recipe)}.tar`);
}

/** Returns a digest of a recipe's sources. Each change of a source builds a new image. */
function toKey({ sources, pins = [], dockerfile, base }: Recipe): string {
  const digest = createHash('sha256').update(readFileSync(dockerfile)).update(pins.join('\n'));
  for (const source of sources) for (const file of getFiles(source)) digest.update(file).update(getContent(file));
  const below = recipes.find(({ name }) => name === base);
  if (below !== undefined) digest.update(toKey(below));
  return digest.digest('hex').slice(0, 16);
}

/** Returns paths relative to the repository, so each checkout has the same images. */
function getFiles(source: string): readonly string[] {
  if (!statSync(join(repository, source)).isDirectory()) return [source];
  return readdirSync(join(repository, source), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .map((entry) => relative(repository, join(entry.parentPath, entry.name)))
    .toSorted();
}

const getContent = (file: string): Buffer => readFileSync(join(repository, file));
