import type { Release } from './release.ts';

/** What made a release: a workflow's run, or somebody's machine. */
export interface Builder {
  /** Who ran it, such as https://github.com/acme/operator/.github/workflows/release.yml@refs/tags/v1.2.3. */
  readonly id: string;
  /** The one run among others, as an address where it has one. */
  readonly run: string;
  readonly revision: string;
  readonly startedOn: Date;
}

/** How it was made, as the predicate https://slsa.dev/provenance/v1 says it. */
export const provenance = ({ version, publisher }: Release, { id, run, revision, startedOn }: Builder) => ({
  buildDefinition: {
    buildType: `${publisher.home}/blob/v${version}/.github/workflows/release.yml`,
    externalParameters: { tag: `v${version}` },
    internalParameters: {},
    resolvedDependencies: [{ uri: `git+${publisher.home}@refs/tags/v${version}`, digest: { gitCommit: revision } }],
  },
  runDetails: { builder: { id }, metadata: { invocationId: run, startedOn: startedOn.toISOString() } },
});
