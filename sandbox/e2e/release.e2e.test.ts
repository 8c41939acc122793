import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ensureBundle } from '../../infra/release/bundle.ts';
import { buildAndPush } from '../../infra/release/images.ts';
import { program } from '../../infra/release/program.ts';
import { architectures, planRelease, type Architecture } from '../../infra/release/release.ts';
import { sign, verify, type Signer } from '../../infra/release/signing.ts';
import { steps, type Releasing } from '../../infra/release/steps.ts';
import { operatorVersion } from '../../infra/settings/version.ts';
import { ensureReleaseBases, releaseBase, releaseBuildah } from '../images/release-bases.ts';
import { imageFlags } from '../manager/image-flags.ts';
import { ensureBinaries } from '../programs/build.ts';
import { startRegistry, type Registry } from '../registry/registry.ts';
import { createTemporaryFolder } from '../testing/temporary-folder.ts';

/** Images begin with Debian's packages, Helm has this machine's architecture, and a key pair signs. */
const version = operatorVersion();
const folder = createTemporaryFolder();
let registry: Registry;
let releasing: Releasing;
const path = process.env['PATH'];
/** An earlier run that was killed may have left containers in the storage. */
let leftBefore: readonly string[];

beforeAll(async () => {
  const programs = await ensureBinaries(['helm', 'cosign', 'registry']);
  mkdirSync(join(folder, 'bin'));
  for (const name of ['helm', 'cosign']) symlinkSync(programs[name] ?? '', join(folder, 'bin', name));
  process.env['PATH'] = [join(folder, 'bin'), path].join(delimiter);
  for (const name of ['CACHE', 'CONFIG', 'DATA']) process.env[`HELM_${name}_HOME`] = join(folder, 'helm', name);
  registry = await startRegistry();
  await ensureBundle();
  await ensureReleaseBases();
  leftBefore = await containers();
  releasing = await releasingTo(registry.host, programs['helm'] ?? '');
}, 900_000);
afterAll(async () => {
  process.env['PATH'] = path;
  await registry?.stop();
});

const containers = async (): Promise<string[]> =>
  (await program('buildah', [...releaseBuildah(), 'containers', '--all', '--quiet'])).split('\n');

async function releasingTo(host: string, helm: string): Promise<Releasing> {
  const publisher = {
    home: 'https://git.example/acme/operator',
    docs: '',
    images: `${host}/acme`,
    npm: '@acme/operator',
    maintainers: [],
    // The registry serves no index, so the first one is new.
    charts: { index: `http://${host}/charts`, oci: `${host}/acme/charts` },
  };
  const stages = { build: join(folder, 'build'), helm: join(folder, 'helm-stage') };
  mkdirSync(join(stages.build, 'src', 'dist'), { recursive: true });
  cpSync(join('dist', 'runtime'), join(stages.build, 'src', 'dist', 'runtime'), { recursive: true });
  mkdirSync(join(stages.helm, 'out'), { recursive: true });
  cpSync(helm, join(stages.helm, 'out', 'helm'), { dereference: true });
  const password = 'of the test';
  const prefix = join(folder, 'cosign');
  await program('cosign', ['generate-key-pair', '--output-key-prefix', prefix], {
    environment: { COSIGN_PASSWORD: password },
  });
  const signer: Signer = { privateKey: `${prefix}.key`, publicKey: `${prefix}.pub`, password };
  return {
    release: planRelease(`v${version}`, version, publisher),
    folder: join(folder, 'release', 'files'),
    published: 'https://git.example/acme/operator/releases/download/v1',
    images: {
      revision: 'a'.repeat(40),
      timestamp: 1_700_000_000,
      buildah: releaseBuildah(),
      base: releaseBase,
      stages: () => stages,
      insecure: true,
    },
    signer: () => signer,
    builder: { id: 'https://builder.example', run: '1', revision: 'a'.repeat(40), startedOn: new Date() },
  };
}

const runStep = (name: string, of = releasing) => steps.find((step) => step.name === name)?.run(of);

interface Manifest {
  readonly manifests: readonly { readonly digest: string; readonly platform: { readonly architecture: string } }[];
  readonly config: { readonly digest: string };
  readonly layers: readonly { readonly digest: string; readonly size: number }[];
}
interface Config {
  readonly architecture: string;
  readonly config: {
    readonly User: string;
    readonly Env: readonly string[];
    readonly Entrypoint: readonly string[];
    readonly Labels: object;
  };
}

const ask = async <T>(kind: 'manifests' | 'blobs', repository: string, reference: string): Promise<T> => {
  const accept = ['index', 'manifest'].map((each) => `application/vnd.oci.image.${each}.v1+json`).join(', ');
  const response = await fetch(`http://${registry.host}/v2/${repository}/${kind}/${reference}`, {
    headers: { accept },
  });
  return (await response.json()) as T;
};

async function getImage(repository: string, architecture: Architecture) {
  const { manifests } = await ask<Manifest>('manifests', repository, version);
  const [found, ...more] = manifests.filter(({ platform }) => platform.architecture === architecture);
  expect(more).toEqual([]);
  const manifest = await ask<Manifest>('manifests', repository, found?.digest ?? '');
  return { manifest, config: await ask<Config>('blobs', repository, manifest.config.digest) };
}

describe('a release [F52]', () => {
  it('builds its files, pushes, signs and verifies, by the steps of the workflow', async () => {
    for (const name of ['files', 'push', 'list', 'sign', 'verify']) await runStep(name);
    const files = readdirSync(releasing.folder).toSorted();
    expect(files).toEqual([
      'LICENSE',
      'SHA256SUMS',
      'SHA256SUMS.bundle',
      `acme-operator-${version}.tgz`,
      'images.txt',
      'index.yaml',
      'lumigo-krew.yaml',
      `lumigo-operator-${version}.tgz`,
      'lumigo-operator.yaml',
      'sbom.cdx.json',
    ]);
    const images = readFileSync(join(releasing.folder, 'images.txt'), 'utf8').trim().split('\n');
    expect(images).toHaveLength(6);
    expect(images[0]).toMatch(
      new RegExp(`^${registry.host}/acme/lumigo-kubernetes-operator:${version}@sha256:[0-9a-f]{64}$`),
    );
  }, 400_000);

  it('leaves no build container, with its mount and its files', async () => {
    expect((await containers()).filter((id) => !leftBefore.includes(id))).toEqual([]);
  });

  it.each(architectures)('has images for %s that say what they are, and run nothing as root', async (architecture) => {
    for (const name of ['lumigo-kubernetes-operator', 'lumigo-kubernetes-operator-updater']) {
      const { config, manifest } = await getImage(`acme/${name}`, architecture);
      expect(manifest.layers.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(100_000_000);
      expect(config.architecture).toBe(architecture);
      expect(config.config).toMatchObject({
        User: '65532:65532',
        Env: expect.arrayContaining([
          'SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt',
          'NODE_OPTIONS=--disable-sigusr1 --max-semi-space-size=2 --max-old-space-size-percentage=25',
        ]),
        Entrypoint: ['/nodejs/bin/node', ...imageFlags(), '/app/main.js'],
        Labels: { 'org.opencontainers.image.version': version, 'org.opencontainers.image.licenses': 'Apache-2.0' },
      });
    }
  });

  it('has the same program in both images, and the Node.js of each architecture', async () => {
    const getFile = async (architecture: Architecture, file: string): Promise<Buffer> => {
      const { manifest } = await getImage('acme/lumigo-kubernetes-operator', architecture);
      const blob = `http://${registry.host}/v2/acme/lumigo-kubernetes-operator/blobs/${manifest.layers.at(-1)?.digest}`;
      const layer = join(mkdtempSync(join(folder, 'blob-')), 'layer.tgz');
      writeFileSync(layer, Buffer.from(await (await fetch(blob)).arrayBuffer()));
      const into = mkdtempSync(join(folder, 'layer-'));
      await program('tar', ['--extract', `--file=${layer}`, `--directory=${into}`, file]);
      return readFileSync(join(into, file));
    };
    expect(await getFile('amd64', 'app/main.js')).toEqual(await getFile('arm64', 'app/main.js'));
    // The field names an ELF file's processor: 62 is x86-64, 183 is AArch64.
    const processors = await Promise.all(
      architectures.map(async (each) => (await getFile(each, 'nodejs/bin/node')).readUInt16LE(18)),
    );
    expect(processors).toEqual([62, 183]);
  });

  it('builds the same images of the same commit again', async () => {
    const before = await ask<Manifest>('manifests', 'acme/lumigo-kubernetes-operator', version);
    const { release, images } = releasing;
    const operators = release.images.filter(({ target }) => target === 'operator');
    for (const image of operators) await buildAndPush(release, image, images);
    expect(await ask<Manifest>('manifests', 'acme/lumigo-kubernetes-operator', version)).toEqual(before);
  });

  it('is copied to another registry by docs/install/private-registry.md, with signatures', async () => {
    const [copying = ''] = /while read [^`]*/.exec(readFileSync('docs/install/private-registry.md', 'utf8')) ?? [];
    const mirror = `${registry.host}/mirror`;
    // The other images are in no registry here, and a name with a port cannot follow another.
    const own = readFileSync(join(releasing.folder, 'images.txt'), 'utf8').split('\n').slice(0, 2);
    const names = own.map((image) => image.replace(`${registry.host}/`, ''));
    writeFileSync(join(folder, 'images.txt'), `${names.join('\n')}\n`);
    const here = copying
      .replaceAll('registry.example.com/mirror', mirror)
      .replace('copy "$image"', `copy "${registry.host}/$image"`);
    await program('sh', ['-euc', here], { cwd: folder });
    for (const name of names) await verify(`${mirror}/${name.replace(/:[^@]*/, '')}`, releasing.signer());
  });

  it('is not verified if a file was changed, or an image has no signature', async () => {
    const file = join(releasing.folder, 'lumigo-operator.yaml');
    const was = readFileSync(file);
    writeFileSync(file, 'another');
    await expect(runStep('verify')).rejects.toThrow(': lumigo-operator.yaml. Do not use any file of this folder');
    writeFileSync(file, was);
    const unsigned = { ...releasing, folder: join(folder, 'unsigned', 'files') };
    cpSync(join(releasing.folder, '..'), join(folder, 'unsigned'), { recursive: true });
    const pushed = join(folder, 'unsigned', 'pushed.json');
    const { config } = (await getImage('acme/lumigo-kubernetes-operator', 'amd64')).manifest;
    writeFileSync(pushed, readFileSync(pushed, 'utf8').replace(/sha256:[0-9a-f]{64}/, config.digest));
    await expect(runStep('verify', unsigned)).rejects.toThrow(/^cosign verify failed/);
  });

  it('is refused in one sentence if the registry does not exist', async () => {
    await registry.stop();
    await expect(sign(`${registry.host}/acme/operator@sha256:${'a'.repeat(64)}`, releasing.signer())).rejects.toThrow(
      /^cosign sign failed: .*connection refused/,
    );
    const release = { ...releasing.release, images: releasing.release.images.slice(0, 1) };
    await expect(runStep('push', { ...releasing, release })).rejects.toThrow(
      /^\w+ .*push .*failed: .*connection refused/,
    );
  });
});
