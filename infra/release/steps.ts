import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Yaml } from 'cdk8s';
import { images, sectionOf } from '../helm/artifact-hub.ts';
import { synthesize } from '../operator.ts';
import { parseSettings } from '../settings/settings.ts';
import { packageChart, pushChart, writeIndex, type ChartKey } from './chart.ts';
import { buildAndPush, type ImageBuild } from './images.ts';
import { KREW_FILE, krewManifest } from './krew.ts';
import { packageNpm } from './npm-package.ts';
import { program } from './program.ts';
import type { Release } from './release.ts';
import { attest, sign, signFile, verify, verifyAttestation, verifyFile, type Signer } from './signing.ts';

interface Builder {
  /** The workflow, such as https://github.com/acme/operator/.github/workflows/release.yml@refs/tags/v1.2.3. */
  readonly id: string;
  readonly run: string;
  readonly revision: string;
  readonly startedOn: Date;
}

export interface Releasing {
  readonly release: Release;
  readonly folder: string;
  readonly published: string;
  readonly images: ImageBuild;
  readonly signer: () => Signer;
  readonly builder: Builder;
  readonly chartKey?: ChartKey;
}

interface Step {
  readonly name: string;
  readonly does: string;
  readonly run: (releasing: Releasing) => Promise<void> | void;
}

/** The digests of everything that was pushed, for `verify`. The file is not part of the release. */
const pushedFile = (folder: string): string => join(folder, '..', 'pushed.json');
/** npm chooses the name of the package, so this file has its path. */
const npmFile = (folder: string): string => join(folder, '..', 'npm-package');
const sbomFile = 'sbom.cdx.json';
const checksumsFile = 'SHA256SUMS';
const notesFile = (folder: string): string => join(folder, '..', 'notes.md');
const predicateFile = (folder: string): string => join(folder, '..', 'provenance.json');

/** The order: all parts are built before the first push, and verified before the release is announced. */
export const steps: readonly Step[] = [
  { name: 'notes', does: 'reads the text of the release from CHANGELOG.md', run: writeNotes },
  {
    name: 'files',
    does: 'creates the chart, the npm package, the manifest for krew, the plain YAML and the SBOM',
    run: makeFiles,
  },
  { name: 'push', does: 'builds the images for each architecture and pushes them and the chart', run: push },
  { name: 'list', does: 'writes the list of images and the checksums of all files', run: list },
  { name: 'sign', does: 'signs and attests everything that was pushed, and the checksums', run: signAll },
  { name: 'verify', does: 'downloads everything from the registry and verifies it', run: verifyAll },
];

function writeNotes({ release, folder }: Releasing): void {
  const text = changelogSection(readFileSync('CHANGELOG.md', 'utf8'), release.version);
  mkdirSync(folder, { recursive: true });
  writeFileSync(notesFile(folder), text);
}

/** Returns the text of a version in CHANGELOG.md. @throws Error if its section is missing or empty */
export function changelogSection(changelog: string, version: string): string {
  const text = sectionOf(changelog, version).replace(/^.*/, '').trim();
  if (text !== '') return `${text}\n`;
  throw new Error(
    `CHANGELOG.md has no text under '## ${version}'. Describe the release there first (rename '## Unreleased')`,
  );
}

async function makeFiles({ release, folder, published, chartKey }: Releasing): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await packageChart(release, folder, chartKey);
  await writeIndex(release, folder, published);
  const archive = await packageNpm(release, folder);
  writeFileSync(npmFile(folder), archive);
  writeFileSync(join(folder, KREW_FILE), krewManifest(release, archive, published));
  // This file is for `kubectl apply --server-side -f` of its address.
  writeFileSync(join(folder, 'lumigo-operator.yaml'), Yaml.stringify(...synthesize(parseSettings({}))));
  writeFileSync(join(folder, sbomFile), await program('npm', ['run', '--silent', 'sbom']));
  copyFileSync('LICENSE', join(folder, 'LICENSE'));
}

type Pushed = Readonly<Record<string, string>>;

async function push({ release, folder, images }: Releasing): Promise<void> {
  const pushed: Record<string, string> = {};
  for (const image of release.images) pushed[image.repository] = await buildAndPush(release, image, images);
  const archive = join(folder, `lumigo-operator-${release.version}.tgz`);
  pushed[release.chart] = await pushChart(release, archive, images.insecure);
  writeFileSync(pushedFile(folder), JSON.stringify(pushed, undefined, 2));
}

function pushedBy(folder: string): Pushed {
  const file = pushedFile(folder);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Pushed;
  throw new Error(`nothing was pushed yet (${file} does not exist). Run the step push first`);
}

const referencesIn = (pushed: Pushed): string[] =>
  Object.entries(pushed).map(([repository, digest]) => `${repository}@${digest}`);

async function list({ release, folder }: Releasing): Promise<void> {
  const pushed = pushedBy(folder);
  const own = release.images.map(({ repository }) => `${repository}:${release.version}@${pushed[repository] ?? ''}`);
  const others = images(parseSettings({})).filter(({ name }) => !['manager', 'updater'].includes(name));
  const all = [...own, ...others.map(({ image }) => image)];
  writeFileSync(join(folder, 'images.txt'), all.map((image) => `${image}\n`).join(''));
  const files = readdirSync(folder).filter((file) => !file.startsWith(checksumsFile));
  writeFileSync(join(folder, checksumsFile), await program('sha256sum', files.toSorted(), { cwd: folder }));
}

/** Returns the provenance of a release in the form of https://slsa.dev/provenance/v1. */
export const provenance = ({ version, publisher }: Release, { id, run, revision, startedOn }: Builder) => ({
  buildDefinition: {
    buildType: `${publisher.home}/blob/v${version}/.github/workflows/release.yml`,
    externalParameters: { tag: `v${version}` },
    internalParameters: {},
    resolvedDependencies: [{ uri: `git+${publisher.home}@refs/tags/v${version}`, digest: { gitCommit: revision } }],
  },
  runDetails: { builder: { id }, metadata: { invocationId: run, startedOn: startedOn.toISOString() } },
});

async function signAll({ release, folder, signer, builder }: Releasing): Promise<void> {
  const by = signer();
  writeFileSync(predicateFile(folder), JSON.stringify(provenance(release, builder)));
  for (const reference of referencesIn(pushedBy(folder))) {
    await sign(reference, by);
    await attest(reference, 'cyclonedx', join(folder, sbomFile), by);
    await attest(reference, 'slsaprovenance1', predicateFile(folder), by);
  }
  await signFile(join(folder, checksumsFile), getBundle(folder), by);
}

const getBundle = (folder: string): string => join(folder, `${checksumsFile}.bundle`);

/** @throws Error with each file of the list that is missing, changed or not in the folder itself, or without a list */
export function verifyChecksums(folder: string): void {
  const list = join(folder, checksumsFile);
  if (!existsSync(list)) throw new Error(`${folder} has no ${checksumsFile}, so its files cannot be verified`);
  const lines = readFileSync(list, 'utf8').trimEnd().split('\n');
  const wrong = lines.filter((line) => !isRight(folder, line)).map((line) => line.replace(/^[0-9a-f]{64} {2}/, ''));
  if (wrong.length === 0) return;
  throw new Error(`these files do not match ${checksumsFile}: ${wrong.join(', ')}. Do not use any file of this folder`);
}

function isRight(folder: string, line: string): boolean {
  const [, digest, file = ''] = /^([0-9a-f]{64}) {2}([^/]+)$/.exec(line) ?? [];
  const path = join(folder, file);
  if (digest === undefined || !existsSync(path)) return false;
  return createHash('sha256').update(readFileSync(path)).digest('hex') === digest;
}

async function verifyAll({ folder, signer, release, chartKey }: Releasing): Promise<void> {
  const by = signer();
  verifyChecksums(folder);
  await verifyFile(join(folder, checksumsFile), getBundle(folder), by);
  for (const reference of referencesIn(pushedBy(folder))) {
    await verify(reference, by);
    await verifyAttestation(reference, 'cyclonedx', by);
    await verifyAttestation(reference, 'slsaprovenance1', by);
  }
  const archive = join(folder, `lumigo-operator-${release.version}.tgz`);
  if (chartKey !== undefined && existsSync(`${archive}.prov`))
    await program('helm', ['verify', archive, '--keyring', chartKey.keyring]);
}
