import { expect, it } from '@jest/globals';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { runScript } from '../run.ts';
import { createTemporaryFolder } from '../testing/temporary-folder.ts';
import { ensureBinaries } from './build.ts';

const folder = createTemporaryFolder();

it('etcd and kube-apiserver suffice for the demo beside Node.js, which ends by itself without a terminal', async () => {
  const bin = join(folder, 'bin');
  const published = join(folder, 'published');
  for (const each of [bin, published]) mkdirSync(each);
  for (const name of ['sh', 'sleep', 'rm']) symlinkSync(join('/bin', name), join(bin, name));
  for (const [name, path] of Object.entries(await ensureBinaries(['etcd', 'kube-apiserver'])))
    symlinkSync(path, join(published, name));
  const environment = {
    HOME: folder,
    // The folder has the programs of every system, and no Go.
    PATH: bin,
    KUBEBUILDER_ASSETS: published,
    LUMIGO_SANDBOX_CACHE: join(folder, 'empty'),
    LUMIGO_SANDBOX_MIRROR: 'http://127.0.0.1:9',
  };
  const { code, stdout, stderr } = await runScript('sandbox/demo/start.ts', ['--no-node'], environment);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(stdout).toMatch(/there is no terminal, so the demo exits at the end, as with --once/);
  expect(stdout.match(/127\.0\.0\.1:9 cannot be reached/g)).toHaveLength(1);
  expect(stdout).toMatch(/continuing without kube-controller-manager: Go is not installed/);
  expect(stdout).toMatch(/Deployment\/cart +instrumented by the reconciler/);
  expect(stdout).toMatch(/Deployment\/checkout +instrumented by the webhook/);
  expect(stdout.trimEnd()).toMatch(/everything was instrumented, then restored exactly$/);
});
