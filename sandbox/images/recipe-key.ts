import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { recipes, repository, type Recipe } from './recipes.ts';

/** Returns a digest of a recipe's sources. Each change of a source builds a new image. */
export function toKey({ sources, pins, dockerfile, base }: Recipe): string {
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
