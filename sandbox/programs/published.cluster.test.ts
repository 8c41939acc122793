import { beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { startMirror } from '../testing/mirror.ts';
import { runScript } from '../run.ts';
import { ensureBinaries } from './build.ts';
import { PublishedPrograms } from './published.ts';
import { createTemporaryFolder } from '../testing/temporary-folder.ts';

const names = ['etcd', 'kube-apiserver'] as const;
const file = 'envtest-of-the-test.tar.gz';
const folder = createTemporaryFolder();
let fetched: string;

beforeAll(async () => {
  const source = join(folder, 'controller-tools', 'envtest');
  mkdirSync(source, { recursive: true });
  const paths = await ensureBinaries(names);
  for (const name of names) copyFileSync(paths[name] ?? '', join(source, name));
  const tar = execFileSync('tar', ['-cf', '-', '-C', folder, 'controller-tools'], { maxBuffer: 1024 ** 3 });
  const content = gzipSync(tar, { level: 1 });
  const digest = createHash('sha512').update(content).digest('hex');
  const mirror = await startMirror({ [file]: content });
  const archive = {
    file,
    url: 'https://mirror.invalid/',
    programs: names,
    checksum: { algorithm: 'sha512', digest },
  } as const;
  const programs = new PublishedPrograms({ archives: [archive], cache: join(folder, 'cache'), mirror: mirror.url });
  fetched = dirname((await programs.fetch('etcd', () => undefined)) ?? '');
  await mirror.stop();
});
describe('etcd and kube-apiserver from a mirror', () => {
  it('suffice for the demo beside Node.js, which ends by itself without a terminal', async () => {
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    for (const name of ['sh', 'sleep', 'rm']) symlinkSync(join('/bin', name), join(bin, name));
    const environment = {
      HOME: folder,
      // The folder has the programs of every system, and no Go.
      PATH: bin,
      KUBEBUILDER_ASSETS: fetched,
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
});
