import type { Release } from './release.ts';

export interface Builder {
  /** The workflow, such as https://github.com/acme/operator/.github/workflows/release.yml@refs/tags/v1.2.3. */
  readonly id: string;
  readonly run: string;
  readonly revision: string;
  readonly startedOn: Date;
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
