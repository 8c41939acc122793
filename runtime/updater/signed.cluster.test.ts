import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../sandbox/node/box.ts';
import { ensureBinaries } from '../../sandbox/programs/build.ts';
import { openHelm, type Helm } from './helm.ts';

/** The real Helm, a chart repository, and keys made by GnuPG: what is not signed by the right one changes nothing. */
let folder: string;
let binary: string;
let repository: Server;
let helm: Helm;
let url: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lumigo-signed-'));
  binary = (await ensureBinaries(['helm'], () => undefined))['helm'] ?? '';
  mkdirSync(join(folder, 'bin'));
  symlinkSync(binary, join(folder, 'bin', 'helm'));
  mkdirSync(join(folder, 'charts'));
  for (const who of ['release', 'stranger']) makeKey(who);
  repository = createServer((request, response) => {
    try {
      response.end(readFileSync(join(folder, 'charts', request.url ?? '')));
    } catch {
      response.writeHead(404).end();
    }
  }).listen(0, '127.0.0.1');
  await once(repository, 'listening');
  url = `http://127.0.0.1:${(repository.address() as AddressInfo).port}`;
  helm = openHelm({ namespace: 'default', flags: [], environment: { PATH: join(folder, 'bin') } });
});
afterAll(() => {
  helm?.close();
  repository?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** In the form that Helm reads: `name.gpg` with the public key, `name.secret.gpg` with both. */
function makeKey(name: string): void {
  const home = join(folder, `gnupg-${name}`);
  mkdirSync(home, { mode: 0o700 });
  const gpg = (...args: readonly string[]) =>
    run('gpg', '--homedir', home, '--batch', '--yes', '--passphrase', '', ...args);
  gpg('--quick-gen-key', name, 'rsa2048', 'sign', 'never');
  gpg('--output', join(folder, `${name}.gpg`), '--export');
  gpg('--output', join(folder, `${name}.secret.gpg`), '--export-secret-keys');
}

function publish(version: string, signedBy?: string): string {
  const chart = join(folder, `chart-${version}`);
  mkdirSync(join(chart, 'templates'), { recursive: true });
  writeFileSync(join(chart, 'Chart.yaml'), `apiVersion: v2\nname: lumigo-operator\nversion: ${version}\n`);
  const object = `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: installed }\ndata: { version: "${version}" }\n`;
  writeFileSync(join(chart, 'templates', 'installed.yaml'), object);
  const signature =
    signedBy === undefined ? [] : ['--sign', '--key', signedBy, '--keyring', join(folder, `${signedBy}.secret.gpg`)];
  run(binary, 'package', chart, '--destination', join(folder, 'charts'), ...signature);
  run(binary, 'repo', 'index', join(folder, 'charts'));
  return join(folder, 'charts', `lumigo-operator-${version}.tgz`);
}

async function fetched(version: string): Promise<string> {
  expect(await helm.versions(url)).toContain(version);
  return helm.fetch(version, join(folder, 'release.gpg'));
}

describe('F27: a chart is verified before anything of it is looked into', () => {
  it.each<[string, string, () => void]>([
    ['that nobody signed', '1.1.0', () => void publish('1.1.0')],
    ['that a stranger signed', '1.2.0', () => void publish('1.2.0', 'stranger')],
    ['that was changed since', '1.3.0', () => appendFileSync(publish('1.3.0', 'release'), 'more')],
  ])('one %s is refused', async (_case, version, prepare) => {
    prepare();
    await expect(fetched(version)).rejects.toThrow('helm pull failed');
  });

  it('one that the right key signed is taken, as it is in the repository', async () => {
    const published = publish('1.4.0', 'release');
    expect(readFileSync(await fetched('1.4.0'))).toEqual(readFileSync(published));
  });
});
