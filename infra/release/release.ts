import { chartName } from '../../runtime/contract.ts';
import { imageRepositoryOf, type Publisher } from '../publisher.ts';

/** An image of this project, for all architectures. */
export interface ReleasedImage {
  /** The stage of the Dockerfile. */
  readonly target: 'operator' | 'updater';
  /** Without what tells its versions apart, such as ghcr.io/acme/lumigo-kubernetes-operator. */
  readonly repository: string;
}

/** What a release consists of, and where it goes. */
export interface Release {
  readonly version: string;
  readonly publisher: Publisher;
  readonly images: readonly ReleasedImage[];
  /** The chart in a registry, such as ghcr.io/acme/charts/lumigo-operator. */
  readonly chart: string;
  /** The name of the npm package. */
  readonly npm: string;
}

/** As Go and container registries call them. */
export const architectures = ['amd64', 'arm64'] as const;
export type Architecture = (typeof architectures)[number];

const needed: Readonly<Record<string, (publisher: Publisher) => string>> = {
  home: ({ home }) => home,
  images: ({ images }) => images,
  'charts.index': ({ charts }) => charts.index,
  'charts.oci': ({ charts }) => charts.oci,
  npm: ({ npm }) => npm,
};

/**
 * What the tag `v1.2.3` releases.
 * @throws Error where the tag is not that of this version, or publisher.yaml does not say where something goes
 */
export function planRelease(tag: string, version: string, publisher: Publisher): Release {
  if (tag !== `v${version}`)
    throw new Error(
      `the tag '${tag}' is not that of this version: package.json has ${version}, whose tag is v${version}`,
    );
  const empty = Object.entries(needed).flatMap(([name, valueOf]) => (valueOf(publisher) === '' ? [name] : []));
  if (empty.length > 0)
    throw new Error(
      `publisher.yaml says nothing for ${empty.join(', ')}, so the release has nowhere to go; fill it in and run \`npm run generate\``,
    );
  return {
    version,
    publisher,
    images: [
      { target: 'operator', repository: imageRepositoryOf('lumigo-kubernetes-operator', publisher) },
      { target: 'updater', repository: imageRepositoryOf('lumigo-kubernetes-operator-updater', publisher) },
    ],
    chart: `${publisher.charts.oci}/${chartName}`,
    npm: publisher.npm,
  };
}
