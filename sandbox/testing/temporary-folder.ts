import { afterAll } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates a folder that Jest deletes after the tests of the file, or of the `describe` that calls this. */
export function createTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lumigo-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
