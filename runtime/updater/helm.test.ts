import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openHelm, type Helm } from './helm.ts';

let folder: string;
let helm: Helm;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'helm-'));
  helm = openHelm('default', { PATH: folder });
});
afterEach(() => {
  helm.close();
  rmSync(folder, { recursive: true });
});

const write = (script: string) => writeFileSync(join(folder, 'helm'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });

it('reads a character of which Helm writes the bytes apart', async () => {
  write("printf '\\303' >&2\n/bin/sleep 0.2\nprintf '\\244' >&2\nexit 1");
  await expect(helm.history('release')).rejects.toThrow('helm history failed: ä');
});

it('gives Helm no input', async () => {
  write('read -r line\necho "[]"');
  expect(await helm.history('release')).toEqual([]);
});

it('reads the version of each revision from the name of its chart', async () => {
  const revisions = [1, 2].map((revision) => ({ revision, status: 'deployed' }));
  const charts = ['lumigo-operator-1.2.3', 'platform-4.5.6'];
  const written = revisions.map((each, index) => ({ ...each, chart: charts[index] }));
  write(`echo '${JSON.stringify(written)}'`);
  const versions = ['1.2.3', 'platform-4.5.6'];
  expect(await helm.history('release')).toEqual(
    revisions.map((each, index) => ({ ...each, version: versions[index] })),
  );
});

it('says that Helm cannot be executed, and why', async () => {
  const cause = expect.objectContaining({ code: 'ENOENT' });
  await expect(helm.history('release')).rejects.toMatchObject({ message: "'helm' cannot be executed", cause });
});

it('ends a command without an end, but not an upgrade, which has its own limit', async () => {
  const impatient = openHelm('default', { PATH: folder }, 500);
  write('echo "a warning" >&2\nexec /bin/sleep 60');
  await expect(impatient.history('release')).rejects.toThrow('helm history failed: it did not end within 0.5 s');
  write('/bin/sleep 1');
  await expect(impatient.upgrade('release', '1.2.3', 'file', 60)).resolves.toBeUndefined();
  impatient.close();
});
