import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The format is that of `sha256sum --check`. */
export const checksumsFile = 'SHA256SUMS';

const getDigest = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

/** Writes the SHA-256 of each file of a folder into a list in it. The signature of the list is not in the list. */
export function writeChecksums(folder: string): void {
  const files = readdirSync(folder).filter((file) => !file.startsWith(checksumsFile));
  const lines = files.toSorted().map((file) => `${getDigest(join(folder, file))}  ${file}\n`);
  writeFileSync(join(folder, checksumsFile), lines.join(''));
}

/** @throws Error that names every missing or changed file, or if there is no list */
export function verifyChecksums(folder: string): void {
  const list = join(folder, checksumsFile);
  if (!existsSync(list)) throw new Error(`${folder} has no ${checksumsFile}, so its files cannot be verified`);
  const wrong = readFileSync(list, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => problemWith(folder, line));
  if (wrong.length > 0)
    throw new Error(
      `these files do not match ${checksumsFile}: ${wrong.join(', ')}. Do not use any file of this folder`,
    );
}

function problemWith(folder: string, line: string): string[] {
  const [, digest, file = ''] = /^([0-9a-f]{64}) {2}([^/]+)$/.exec(line) ?? [];
  if (digest === undefined) return [`the line '${line}'`];
  const path = join(folder, file);
  if (!existsSync(path)) return [`${file} is missing`];
  return getDigest(path) === digest ? [] : [`${file} has changed`];
}
