import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { program } from './program.ts';
import { architectures, type Architecture, type Release, type ReleasedImage } from './release.ts';

export interface ImageBuild {
  readonly revision: string;
  /** The commit's time in seconds since 1970. Each file gets it, so a commit always gives the same image. */
  readonly timestamp: number;
  readonly buildah?: readonly string[];
  /** Default: the base image in the Dockerfile. */
  readonly base?: (architecture: Architecture) => string;
  /** Folders that replace stages of the Dockerfile. */
  readonly stages?: (architecture: Architecture) => Readonly<Record<string, string>>;
  /** True for a registry without TLS, such as one on loopback. */
  readonly insecure?: boolean;
}

const flag = (name: string, values: Readonly<Record<string, string>>): string[] =>
  Object.entries(values).map(([key, value]) => `--${name}=${key}=${value}`);

/** Builds and pushes an image for all architectures, without running a foreign program. Returns the digest of the index. */
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
    // Some versions of buildah exit with success without a registry. The chart's push and cosign, which come next, report it.
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
