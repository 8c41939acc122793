import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { appendFileSync, readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { run } from '../../sandbox/run.ts';
import { startRegistry, type Registry } from '../../sandbox/registry/registry.ts';
import { startCharts, type Charts as Repository } from '../../sandbox/testing/charts.ts';
import { openHelm, type Helm } from './helm.ts';
import { toConstraints } from './plan-update.ts';

let repository: Repository;
let registry: Registry;
let helm: Helm;
let keyring: string;

beforeAll(async () => {
  repository = await startCharts();
  registry = await startRegistry();
  keyring = repository.makeKey('release');
  repository.makeKey('stranger');
  helm = openHelm('default', { PATH: repository.bin });
});
afterAll(async () => {
  helm?.close();
  await registry?.stop();
  repository?.remove();
});

const address = () => `oci://${registry.host}/charts`;

function publish(version: string, signedBy?: string, tamper: (archive: string) => void = () => undefined): string {
  const archive = repository.publish(version, signedBy);
  tamper(archive);
  run(join(repository.bin, 'helm'), ['push', archive, address(), '--plain-http']);
  return archive;
}

describe.each<[string, () => ReturnType<Helm['charts']>]>([
  ['a repository with an index', () => helm.charts(repository.url)],
  ['a registry', () => helm.charts(address())],
])('a chart in %s is verified before it is read [F27, F60]', (_place, charts) => {
  it.each<[string, () => string]>([
    ['is not signed', () => publish('1.1.0')],
    ['is signed by a stranger', () => publish('1.2.0', 'stranger')],
    [
      'was changed after it was signed',
      () => publish('1.3.0', 'release', (archive) => appendFileSync(archive, 'more')),
    ],
  ])('and refused if it %s', async (_case, prepare) => {
    const version = /[\d.]+(?=\.tgz)/.exec(prepare())?.[0] ?? '';
    expect(await charts().versions([`<=${version}`])).toContain(version);
    await expect(charts().fetch(version, keyring)).rejects.toThrow('helm pull failed');
  });

  it('and fetched unchanged if the right key signed it', async () => {
    const archive = publish('1.4.0', 'release');
    await charts().versions([]);
    expect(readFileSync(await charts().fetch('1.4.0', keyring))).toEqual(readFileSync(archive));
    await expect(charts().fetch('1.4.0', '/nowhere/keyring.gpg')).rejects.toThrow(/helm pull failed: .*keyring\.gpg/);
  });
});

describe('a registry [F60]', () => {
  it('has the newest version: not left, stable, in the range, and of all', async () => {
    for (const version of ['1.9.0', '1.10.0', '1.11.0', '1.12.0-rc.1', '2.0.0']) publish(version);
    const { versions, chart } = helm.charts(address());
    const history = ['1.11.0', '1.5.0'].map((version, index) => ({ revision: index, status: 'superseded', version }));
    const constraints = toConstraints('1.5.0', '', history);
    expect(await versions(constraints)).toEqual(['1.10.0', '1.11.0', '1.12.0-rc.1', '2.0.0']);
    const pinned = toConstraints('1.5.0', '1.12.0-rc.1', history);
    expect(await versions(pinned)).toEqual(['1.12.0-rc.1', '2.0.0']);
    // Helm accepts the longest constraint, of 504 bytes.
    const left = Array.from({ length: 50 }, (_, patch) => ({
      revision: patch,
      status: 'superseded',
      version: `1.11.${patch}`,
    }));
    expect(await versions(toConstraints('1.5.0', '', left))).toEqual(['1.10.0', '1.11.0', '1.12.0-rc.1', '2.0.0']);
    expect(await versions(['>=3.0.0'])).toEqual(['2.0.0']);
    expect(chart).toBe(`${address()}/lumigo-operator`);
  });

  it('is given up if it accepts the connection and does not answer', async () => {
    const silent = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const impatient = openHelm('default', { PATH: repository.bin }, 3_000);
    const charts = impatient.charts(`oci://127.0.0.1:${(silent.address() as AddressInfo).port}/charts`);
    await expect(charts.versions([])).rejects.toThrow('helm show failed: it did not end within 3 s');
    impatient.close();
    silent.close();
  });

  it('fails if it has no such chart, or does not answer', async () => {
    await expect(helm.charts(`oci://${registry.host}/nothing`).versions([])).rejects.toThrow(/helm show failed/);
    await registry.stop();
    await expect(helm.charts(address()).versions([])).rejects.toThrow(/helm show failed/);
  });
});
