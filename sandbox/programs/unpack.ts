import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runMeanwhile } from '../run.ts';
import { withFolder } from '../with-folder.ts';
import type { Archive } from './archives.ts';

/** Unpacks an archive's programs into a folder, atomically. @throws Error with a sentence */
export async function unpack({ file, programs }: Archive, from: string, folder: string): Promise<void> {
  mkdirSync(dirname(folder), { recursive: true });
  await withFolder(async (work) => {
    const content = join(work, 'content');
    const ready = join(work, 'ready');
    for (const each of [content, ready]) mkdirSync(each);
    if (file.endsWith('.tar.gz')) await runMeanwhile('tar', ['-xzf', from, '-C', content]);
    else copyFileSync(from, join(content, programs[0] ?? ''));
    for (const program of programs) {
      const path = join(ready, program);
      renameSync(find(program, content, file), path);
      chmodSync(path, 0o755);
    }
    if (!existsSync(folder)) renameSync(ready, folder);
  }, `${folder}.`);
}

/** The programs are one or two folders deep in the archive. */
function find(program: string, content: string, file: string): string {
  const entries = readdirSync(content, { recursive: true, withFileTypes: true });
  const found = entries.find((entry) => entry.isFile() && entry.name === program);
  if (found === undefined) throw new Error(`there is no '${program}' in ${file}`);
  return join(found.parentPath, found.name);
}
