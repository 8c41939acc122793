import { expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openHelm } from './helm.ts';

it('reads a character of which Helm writes the bytes apart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'helm-'));
  const script = "#!/bin/sh\nprintf '\\303' >&2\n/bin/sleep 0.2\nprintf '\\244' >&2\nexit 1\n";
  writeFileSync(join(folder, 'helm'), script, { mode: 0o755 });
  const helm = openHelm('default', { PATH: folder });
  await expect(helm.history('release')).rejects.toThrow('helm history failed: ä');
  helm.close();
  rmSync(folder, { recursive: true });
});
