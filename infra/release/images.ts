import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { program } from './program.ts';
import { architectures, type Architecture, type Release, type ReleasedImage } from './release.ts';

/** The input of an image build. */
export interface ImageBuild {
  /** The git commit. */
  readonly revision: string;
  /** The commit's time in seconds since 1970. Every file gets it, so that the same commit gives the same image. */
  readonly timestamp: number;
  /** Arguments of buildah before its command, such as the folder of its storage. */
  readonly buildah?: readonly string[];
  /** The base image. Default: the one in the Dockerfile. */
  readonly base?: (architecture: Architecture) => string;
  /** Folders that replace stages of the Dockerfile. */
  readonly stages?: (architecture: Architecture) => Readonly<Record<string, string>>;
  /** True for a registry without TLS, such as one on loopback. */
  readonly insecure?: boolean;
}

const flag = (name: string, values: Readonly<Record<string, string>>): string[] =>
  Object.entries(values).map(([key, value]) => `--${name}=${key}=${value}`);

/**
 * Builds an image for every architecture, and pushes them as one. Nothing of another architecture is run: the Dockerfile runs its
 * programs on the machine's own, and copies.
 * @returns the digest of the index of all architectures
 */
export async function buildAndPush(release: Release, image: ReleasedImage, build: ImageBuild): Promise<string> {
  const buildah = (...args: readonly string[]): Promise<string> =>
    program('buildah', [...(build.buildah ?? []), ...args]);
  const list = `localhost/release-${image.target}-${process.pid}`;
  const folder = mkdtempSync(join(tmpdir(), 'lumigo-push-'));
  const made: string[] = [];
  try {
    for (const architecture of architectures)
      made.push((await buildah(...buildArguments(release, image, build, architecture), '.')).trim());
    await buildah('manifest', 'create', list, ...made);
    const digestFile = join(folder, 'digest');
    const flags = ['--all', '--format=oci', `--tls-verify=${build.insecure !== true}`, `--digestfile=${digestFile}`];
    // Some versions of buildah end well where no registry answered: the chart's push and cosign, which ask it next, do not.
    await buildah('manifest', 'push', ...flags, list, `docker://${image.repository}:${release.version}`);
    return readFileSync(digestFile, 'utf8').trim();
  } finally {
    rmSync(folder, { recursive: true });
    // If the removal fails, the leftovers do no harm.
    await Promise.allSettled([buildah('manifest', 'rm', list)]);
    await Promise.allSettled([buildah('rmi', '--force', ...made)]);
  }
}

function buildArguments(
  release: Release,
  { target }: ReleasedImage,
  { revision, timestamp, base, stages }: ImageBuild,
  architecture: Architecture,
): string[] {
  return [
    'bud',
    '--quiet',
    '--isolation=chroot',
    '--format=oci',
    `--platform=linux/${architecture}`,
    `--target=${target}`,
    `--timestamp=${timestamp}`,
    ...flag('label', {
      'org.opencontainers.image.title': `Lumigo Kubernetes ${target}`,
      'org.opencontainers.image.licenses': 'Apache-2.0',
      'org.opencontainers.image.source': release.publisher.home,
      'org.opencontainers.image.version': release.version,
      'org.opencontainers.image.revision': revision,
    }),
    ...(base === undefined ? [] : ['--pull=false', `--build-arg=BASE=${base(architecture)}`]),
    ...flag('build-context', stages?.(architecture) ?? {}),
  ];
}
