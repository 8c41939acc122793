import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Calls an action with a new folder, and deletes it afterwards. @param prefix the beginning of its path. Default: a temporary folder */
export async function withFolder<T>(
  action: (folder: string) => Promise<T> | T,
  prefix = join(tmpdir(), 'lumigo-'),
): Promise<T> {
  const folder = mkdtempSync(prefix);
  try {
    return await action(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
