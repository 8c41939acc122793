import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chartName } from '../../runtime/contract.ts';
import { writeChart } from '../helm/chart.ts';
import { program } from './program.ts';
import type { Release } from './release.ts';

/** An OpenPGP key in Helm's form, for `helm install --verify` and the updater. */
export interface ChartKey {
  readonly name: string;
  readonly keyring: string;
}

/** Packs the chart by Helm, and signs it if there is a key. Returns the archive. Its signature is beside it. */
export async function packageChart({ version }: Release, folder: string, key?: ChartKey): Promise<string> {
  const signature = key === undefined ? [] : ['--sign', '--key', key.name, '--keyring', key.keyring];
  const source = mkdtempSync(join(tmpdir(), 'lumigo-chart-'));
  try {
    const chart = join(source, chartName);
    writeChart(chart, version);
    await program('helm', ['lint', '--strict', chart]);
    await program('helm', ['package', chart, '--destination', folder, ...signature]);
  } finally {
    rmSync(source, { recursive: true });
  }
  return join(folder, `${chartName}-${version}.tgz`);
}

/** Writes the index with the new archive. @throws Error if the present index cannot be read: a new one would hide older versions */
export async function writeIndex(release: Release, folder: string, archives: string): Promise<void> {
  const present = await presentIndex(`${release.publisher.charts.index}/index.yaml`);
  const older = join(folder, 'older-index.yaml');
  if (present !== undefined) writeFileSync(older, present);
  try {
    const merge = present === undefined ? [] : ['--merge', older];
    await program('helm', ['repo', 'index', folder, '--url', archives, ...merge]);
  } finally {
    rmSync(older, { force: true });
  }
}

async function presentIndex(url: string): Promise<string | undefined> {
  const response = await fetch(url).catch((error: unknown) => {
    throw new Error(`the chart repository does not answer for ${url}`, { cause: (error as Error).cause ?? error });
  });
  if (response.status === 404) return undefined;
  if (!response.ok) throw new Error(`the chart repository answers ${response.status} for ${url}`);
  return response.text();
}

/** Pushes the chart and its signature, if any. Returns the digest. */
export async function pushChart({ chart, publisher }: Release, archive: string, insecure = false): Promise<string> {
  const target = [`oci://${publisher.charts.oci}`, ...(insecure ? ['--plain-http'] : [])];
  // Helm prints the digest to standard output or standard error, depending on its version.
  const output = await program('helm', ['push', archive, ...target], { both: true });
  const [digest] = /sha256:[0-9a-f]{64}/.exec(output) ?? [];
  if (digest === undefined) throw new Error(`helm pushed ${chart} but did not print its digest`);
  return digest;
}
