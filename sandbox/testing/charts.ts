import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../run.ts';
import { ensureBinaries } from '../programs/build.ts';

export type Charts = Awaited<ReturnType<typeof startCharts>>;

/** Starts a repository on loopback with minimal charts of the operator's name, packed by the real Helm. */
export async function startCharts() {
  const work = mkdtempSync(join(tmpdir(), 'lumigo-charts-'));
  const [folder, bin] = [join(work, 'charts'), join(work, 'bin')];
  for (const each of [folder, bin]) mkdirSync(each);
  const { helm = '' } = await ensureBinaries(['helm']);
  symlinkSync(helm, join(bin, 'helm'));
  const server = createServer((request, response) => {
    try {
      response.end(readFileSync(join(folder, request.url ?? '')));
    } catch {
      response.writeHead(404).end();
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const secretKey = (name: string) => join(work, `${name}.secret.gpg`);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bin,
    folder,
    /** Packs a version and signs it with a key of `makeKey`. Returns the archive. */
    publish(version: string, signedBy?: string): string {
      const chart = join(work, `chart-${version}`);
      mkdirSync(join(chart, 'templates'), { recursive: true });
      writeFileSync(join(chart, 'Chart.yaml'), `apiVersion: v2\nname: lumigo-operator\nversion: ${version}\n`);
      writeFileSync(join(chart, 'templates', 'installed.yaml'), installed(version));
      const signature = signedBy === undefined ? [] : ['--sign', '--key', signedBy, '--keyring', secretKey(signedBy)];
      run(helm, ['package', chart, '--destination', folder, ...signature]);
      run(helm, ['repo', 'index', folder]);
      return join(folder, `lumigo-operator-${version}.tgz`);
    },
    makeKey(name: string): string {
      const home = join(work, `gnupg-${name}`);
      mkdirSync(home, { mode: 0o700 });
      const gpg = (...args: readonly string[]) =>
        run('gpg', ['--homedir', home, '--batch', '--yes', '--passphrase', '', ...args]);
      gpg('--quick-gen-key', name, 'rsa2048', 'sign', 'never');
      gpg('--output', join(work, `${name}.gpg`), '--export');
      gpg('--output', secretKey(name), '--export-secret-keys');
      return join(work, `${name}.gpg`);
    },
    stop: (): void => void server.close(),
    remove(): void {
      server.close();
      rmSync(work, { recursive: true, force: true });
    },
  };
}

const installed = (version: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: installed }\ndata: { version: "${version}" }\n`;
