import { mkdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runMain } from '../program.ts';
import { ensureBinaries } from './build.ts';

/** `link.ts FOLDER NAME …`: links pinned programs into a folder for the PATH. */
const [folder = '', ...names] = process.argv.slice(2);
await runMain(async () => {
  const paths = await ensureBinaries(names, (line) => void process.stderr.write(`  ${line}\n`));
  const unknown = names.filter((name) => !(name in paths));
  if (folder === '' || unknown.length > 0)
    throw new Error(`link.ts FOLDER NAME …: there is no program '${unknown.join(', ')}'`);
  mkdirSync(folder, { recursive: true });
  for (const [name, path] of Object.entries(paths)) symlinkSync(resolve(path), join(folder, name));
});
