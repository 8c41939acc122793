import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveFolder } from '../chart-repository/serve-folder.ts';
import { run } from '../run.ts';
import { ensureBinaries } from '../programs/build.ts';

export type Charts = Awaited<ReturnType<typeof startCharts>>;

/** Starts a repository on loopback with minimal charts of the operator's name, packed by the real Helm. */
export async function startCharts() {
  const work = mkdtempSync(join(tmpdir(), 'lumigo-charts-'));
  const folder = join(work, 'charts');
  const bin = join(work, 'bin');
  for (const each of [folder, bin]) mkdirSync(each);
  const { helm = '' } = await ensureBinaries(['helm']);
  symlinkSync(helm, join(bin, 'helm'));
  const server = await serveFolder(folder);
  return {
    url: server.url,
    bin,
    folder,
    /** Packs a version and signs it with a key of `makeKey`. Returns the archive. */
    publish(version: string, signedBy?: string): string {
      const chart = join(work, `chart-${version}`);
      mkdirSync(join(chart, 'templates'), { recursive: true });
      writeFileSync(join(chart, 'Chart.yaml'), `apiVersion: v2\nname: lumigo-operator\nversion: ${version}\n`);
      writeFileSync(join(chart, 'templates', 'installed.yaml'), installed(version));
      const keyring = join(work, `${signedBy}.secret.gpg`);
      const signature = signedBy === undefined ? [] : ['--sign', '--key', signedBy, '--keyring', keyring];
      run(helm, ['package', chart, '--destination', folder, ...signature]);
      run(helm, ['repo', 'index', folder]);
      return join(folder, `lumigo-operator-${version}.tgz`);
    },
    makeKey: (name: string): string => makeChartKey(work, name).publicKeyring,
    stop: server.close,
    remove(): void {
      server.close();
      rmSync(work, { recursive: true, force: true });
    },
  };
}

const installed = (version: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: installed }\ndata: { version: "${version}" }\n`;

/** Makes a key that signs charts, and keyrings with its public and its secret part. */
export function makeChartKey(folder: string, name: string) {
  const file = (end: string) => join(folder, `${name}.${end}`);
  const home = file('gnupg');
  const publicKeyring = file('gpg');
  const keyring = file('secret.gpg');
  mkdirSync(home, { mode: 0o700 });
  const gpg = (...args: readonly string[]) =>
    run('gpg', ['--homedir', home, '--batch', '--yes', '--passphrase', '', ...args]);
  gpg('--quick-gen-key', name, 'rsa2048', 'sign', 'never');
  gpg('--output', publicKeyring, '--export');
  gpg('--output', keyring, '--export-secret-keys');
  return { name, publicKeyring, keyring };
}
