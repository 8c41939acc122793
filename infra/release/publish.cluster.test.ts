import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { appendFileSync, copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { parse } from 'yaml';
import { serveFolder } from '../../sandbox/chart-repository/serve-folder.ts';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { ensureBinaries } from '../../sandbox/programs/build.ts';
import { startRegistry, type Registry } from '../../sandbox/registry/registry.ts';
import { runToEnd } from '../../sandbox/run.ts';
import { installWithHelm } from '../helm/installation-texts.ts';
import { packageChart, pushChart, writeIndex, type ChartKey } from './chart.ts';
import { program } from './program.ts';
import type { Release } from './release.ts';
import { attest, sign, signFile, verify, verifyAttestation, verifyFile, type Signer } from './signing.ts';
import { provenance } from './steps.ts';
import { makeChartKey } from '../../sandbox/testing/charts.ts';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';

/** The chart is signed with the test's keys, because only a GitHub workflow can sign without keys. */
const VERSION = '7.1.0';
// An older version, so that a request for the newest does not return it.
const TAMPERED = '6.9.0';
const folder = createTemporaryFolder();
let cluster: ControlPlane;
let registry: Registry;
let repository: Awaited<ReturnType<typeof serveFolder>>;
let release: Release;
let key: ChartKey;
let signer: Signer;
let stranger: Signer;
let digest: string;
const path = process.env['PATH'];

const charts = (): string => join(folder, 'charts');
const getArchive = (version: string): string => join(charts(), `lumigo-operator-${version}.tgz`);
const index = (): string => release.publisher.charts.index;

beforeAll(async () => {
  const programs = await ensureBinaries(['helm', 'cosign', 'registry', 'kubectl']);
  mkdirSync(join(folder, 'bin'));
  for (const name of ['helm', 'cosign', 'kubectl']) symlinkSync(programs[name] ?? '', join(folder, 'bin', name));
  process.env['PATH'] = [join(folder, 'bin'), path].join(delimiter);
  for (const name of ['CACHE', 'CONFIG', 'DATA']) process.env[`HELM_${name}_HOME`] = join(folder, 'helm', name);
  [cluster, registry] = await Promise.all([startControlPlane({ controllerManager: false }), startRegistry()]);
  process.env['KUBECONFIG'] = cluster.kubeconfig;
  mkdirSync(charts());
  repository = await serveFolder(charts());
  release = getRelease(registry.host, repository.url);
  key = makeChartKey(folder, 'release');
  [signer, stranger] = await Promise.all([keyPair('release'), keyPair('stranger')]);
  await packageChart(release, charts(), key);
  await writeIndex(release, charts(), index());
  digest = await pushChart(release, getArchive(VERSION), true);
}, 600_000);
afterAll(async () => {
  process.env['PATH'] = path;
  repository?.close();
  await Promise.all([registry?.stop(), cluster?.stop()]);
});

function getRelease(host: string, chartIndex: string): Release {
  const oci = `${host}/acme/charts`;
  const publisher = {
    home: 'https://git.example/acme/operator',
    docs: '',
    images: `${host}/acme`,
    npm: '@acme/operator',
    maintainers: [],
    charts: { index: chartIndex, oci },
  };
  return { version: VERSION, publisher, images: [], chart: `${oci}/lumigo-operator`, npm: publisher.npm };
}

async function keyPair(name: string): Promise<Signer> {
  const prefix = join(folder, `cosign-${name}`);
  const password = 'of the test';
  await program('cosign', ['generate-key-pair', '--output-key-prefix', prefix], {
    environment: { COSIGN_PASSWORD: password },
  });
  return { privateKey: `${prefix}.key`, publicKey: `${prefix}.pub`, password };
}

const shell = (script: string) => runToEnd('sh', ['-euc', script]);

const install = (chart: string, ...flags: readonly string[]) =>
  shell(`helm install lumigo ${chart} --namespace lumigo-system --create-namespace ${flags.join(' ')}`);

const getKeyring = (name: string): string => join(folder, `${name}.gpg`);

async function installed(): Promise<unknown> {
  const chart = await program('helm', ['list', '--all-namespaces', '--all', '--output', 'json']);
  return (JSON.parse(chart) as { chart: string }[]).map((each) => each.chart);
}

async function expectNothing(): Promise<void> {
  expect(await installed()).toEqual([]);
  const left = await program('kubectl', ['get', 'namespaces,crds,clusterroles', '--output', 'name']);
  expect(left.split('\n').filter((name) => name.includes('lumigo'))).toEqual([]);
}

async function uninstall(): Promise<void> {
  // Without a node, the clean-up hook would wait for its pod.
  await program('helm', ['delete', 'lumigo', '--namespace', 'lumigo-system', '--no-hooks', '--wait']);
}

describe('a chart that is not trusted or not available', () => {
  afterEach(expectNothing);

  async function tamper(): Promise<void> {
    await packageChart({ ...release, version: TAMPERED }, folder, key);
    const archive = join(folder, `lumigo-operator-${TAMPERED}.tgz`);
    await pushChart({ ...release, version: TAMPERED }, archive, true);
    const sum = (await program('sha256sum', [archive])).slice(0, 64);
    const blob = join(registry.folder, 'docker/registry/v2/blobs/sha256', sum.slice(0, 2), sum, 'data');
    writeFileSync(
      blob,
      readFileSync(archive).map((byte) => byte ^ 1),
    );
    // In the chart repository the archive is replaced, and the signature stays.
    copyFileSync(`${archive}.prov`, `${getArchive(TAMPERED)}.prov`);
    writeFileSync(getArchive(TAMPERED), readFileSync(getArchive(VERSION)));
  }

  const refused: [string, () => string | Promise<string>, RegExp][] = [
    ['whose registry is not there', () => 'oci://127.0.0.1:9/charts/lumigo-operator', /connection refused/],
    ['whose repository is not there', () => 'lumigo-operator --repo http://127.0.0.1:9', /cannot be reached/],
    [
      'that is not signed',
      async () => {
        await packageChart({ ...release, version: '7.3.0' }, folder);
        return `${join(folder, 'lumigo-operator-7.3.0.tgz')} --verify --keyring ${getKeyring('release')}`;
      },
      /provenance|\.prov/,
    ],
    [
      'that another key signed',
      () => {
        makeChartKey(folder, 'stranger');
        return `oci://${release.chart} --version ${VERSION} --verify --keyring ${getKeyring('stranger')}`;
      },
      /signature/,
    ],
  ];

  it.each(refused)('is not installed: one %s', async (_case, chart, reason) => {
    const { code, stderr } = await install(await chart());
    expect([code, stderr.trim().split('\n').at(-1)]).toEqual([1, expect.stringMatching(reason)]);
  });

  it('is not installed if its content does not match its checksum, from either place', async () => {
    await tamper();
    const fromRegistry = await install(`oci://${release.chart} --version ${TAMPERED}`);
    expect([fromRegistry.code, fromRegistry.stderr]).toEqual([1, expect.stringMatching(/digest|mismatch/)]);
    const verified = `--verify --keyring ${getKeyring('release')}`;
    const fromRepository = await install(`${index()}/${basename(getArchive(TAMPERED))} ${verified}`);
    expect([fromRepository.code, fromRepository.stderr]).toEqual([1, expect.stringMatching(/sha256|sum/)]);
    rmSync(getArchive(TAMPERED));
  });

  it('is not installed if the registry refuses', async () => {
    const refusing = await startRegistry({ refusing: true });
    try {
      const theirs = getRelease(refusing.host, index());
      await expect(pushChart(theirs, getArchive(VERSION), true)).rejects.toThrow(
        /^helm push .*failed: .*401|unauthorized|credential/,
      );
      const { code, stderr } = await install(`oci://${theirs.chart} --version ${VERSION}`);
      expect([code, stderr]).toEqual([1, expect.stringMatching(/401|unauthorized|credential/)]);
    } finally {
      await refusing.stop();
    }
  });

  it('is not in an index if the present index could not be read', async () => {
    const away = getRelease(registry.host, 'http://127.0.0.1:9');
    await expect(writeIndex(away, charts(), index())).rejects.toThrow(
      'the chart repository does not answer for http://127.0.0.1:9',
    );
  });
});

describe('a published chart [F52]', () => {
  it('is installed with helm from a registry, verified', async () => {
    const flags = ['--verify', '--keyring', getKeyring('release')];
    expect(await install(`oci://${release.chart}`, ...flags)).toMatchObject({ code: 0 });
    expect(await installed()).toEqual([`lumigo-operator-${VERSION}`]);
    const deployment = 'deployment/lumigo-lumigo-operator-controller-manager';
    await program('kubectl', ['get', deployment, '--namespace', 'lumigo-system']);
    await uninstall();
  });

  it('is listed in the index of the repository, where older versions stay', async () => {
    await packageChart({ ...release, version: '7.0.0' }, charts());
    await writeIndex(release, charts(), index());
    const { entries } = parse(readFileSync(join(charts(), 'index.yaml'), 'utf8')) as {
      entries: Record<string, { version: string; urls: string[] }[]>;
    };
    expect(entries['lumigo-operator']?.map(({ version }) => version)).toEqual([VERSION, '7.0.0']);
    rmSync(getArchive('7.0.0'));
    await writeIndex(release, charts(), index());
    expect(readFileSync(join(charts(), 'index.yaml'), 'utf8')).toContain('lumigo-operator-7.0.0.tgz');
  });

  it('is signed and attested by its digest, and verified by cosign', async () => {
    const reference = `${release.chart}@${digest}`;
    await sign(reference, signer);
    await verify(reference, signer);
    const builder = { id: 'https://builder.example', run: '1', revision: 'a'.repeat(40), startedOn: new Date() };
    const predicate = join(folder, 'predicate.json');
    writeFileSync(predicate, JSON.stringify(provenance(release, builder)));
    await attest(reference, 'slsaprovenance1', predicate, signer);
    expect(await verifyAttestation(reference, 'slsaprovenance1', signer)).toContain('"payload"');
    await expect(verify(reference, stranger)).rejects.toThrow(/^cosign verify failed: .*no matching signatures/);
    await expect(verifyAttestation(reference, 'cyclonedx', signer)).rejects.toThrow('cosign verify-attestation failed');
  });

  it('has a list of checksums whose signature covers every byte', async () => {
    const file = join(folder, 'SHA256SUMS');
    writeFileSync(file, 'as it was\n');
    await signFile(file, `${file}.bundle`, signer);
    await verifyFile(file, `${file}.bundle`, signer);
    await expect(verifyFile(file, `${file}.bundle`, stranger)).rejects.toThrow('cosign verify-blob');
    appendFileSync(file, 'and more\n');
    await expect(verifyFile(file, `${file}.bundle`, signer)).rejects.toThrow('cosign verify-blob');
  });
});

describe('the README commands of a project that is published there', () => {
  it('install from both, unchanged', async () => {
    const blocks = [...installWithHelm(release.publisher).matchAll(/```sh\n([^`]*)```/g)].map(
      ([, block = '']) => block,
    );
    expect(blocks).toHaveLength(2);
    for (const block of blocks) {
      expect(await shell(block)).toMatchObject({ code: 0 });
      expect(await installed()).toEqual([`lumigo-operator-${VERSION}`]);
      await uninstall();
    }
  });
});
