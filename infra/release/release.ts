import { chartName } from '../../runtime/contract.ts';
import { getImageRepository, type Publisher } from '../settings/publisher.ts';

export interface ReleasedImage {
  readonly target: 'operator' | 'updater';
  /** Without tag and digest, such as ghcr.io/acme/lumigo-kubernetes-operator. */
  readonly repository: string;
}

export interface Release {
  readonly version: string;
  readonly publisher: Publisher;
  readonly images: readonly ReleasedImage[];
  /** The chart in a registry, such as ghcr.io/acme/charts/lumigo-operator. */
  readonly chart: string;
  readonly npm: string;
}

export const architectures = ['amd64', 'arm64'] as const;
export type Architecture = (typeof architectures)[number];

const needed: Readonly<Record<string, (publisher: Publisher) => string>> = {
  home: ({ home }) => home,
  images: ({ images }) => images,
  'charts.index': ({ charts }) => charts.index,
  'charts.oci': ({ charts }) => charts.oci,
  npm: ({ npm }) => npm,
};

/** Returns the release of a tag such as `v1.2.3`. @throws Error if the tag is not this version's, or if publisher.yaml misses a repository */
export function planRelease(tag: string, version: string, publisher: Publisher): Release {
  if (tag !== `v${version}`)
    throw new Error(
      `the tag '${tag}' does not match the version ${version} in package.json. The tag must be v${version}`,
    );
  const empty = Object.entries(needed).flatMap(([name, getValue]) => (getValue(publisher) === '' ? [name] : []));
  if (empty.length > 0)
    throw new Error(`publisher.yaml has no value for ${empty.join(', ')}. Set it and run \`npm run generate\``);
  return {
    version,
    publisher,
    images: [
      { target: 'operator', repository: getImageRepository('lumigo-kubernetes-operator', publisher) },
      { target: 'updater', repository: getImageRepository('lumigo-kubernetes-operator-updater', publisher) },
    ],
    chart: `${publisher.charts.oci}/${chartName}`,
    npm: publisher.npm,
  };
}
