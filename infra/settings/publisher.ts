import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { fields, httpsUrl, imageRepository, text } from './leaves.ts';

const registry = () =>
  text().refine((value) => value === '' || imageRepository().safeParse(value).success, {
    error: 'must be a registry with a folder, such as ghcr.io/acme, or empty',
  });

/** The name without a scope belongs to the archive of `npm run package`. Its README says that nothing is published. */
const npmName = () =>
  text().regex(
    /^(?!lumigo-kubernetes-operator$)((@[a-z0-9][-._a-z0-9]*\/)?[a-z0-9][-._a-z0-9]*)?$/,
    'must be the name of an npm package, such as @acme/lumigo-kubernetes-operator with its scope, or empty',
  );

const schema = fields({
  home: httpsUrl(),
  docs: httpsUrl().default(''),
  images: registry(),
  charts: fields({
    index: httpsUrl(),
    oci: registry(),
    signKey: fields({ fingerprint: text(), url: httpsUrl() }).optional(),
  }),
  npm: npmName(),
  maintainers: z.array(fields({ name: text().min(1, 'must not be empty'), email: text().optional(), url: httpsUrl() })),
});

/** An empty field means that nothing is published there. */
export type Publisher = z.output<typeof schema>;

/** @throws Error with every problem that publisher.yaml has */
export function parsePublisher(yaml: string): Publisher {
  const { data, error } = schema.safeParse(parse(yaml));
  if (data !== undefined) return data;
  const problems = error.issues.map(({ path, message }) => `  - ${path.join('.') || 'it'} ${message}`);
  throw new Error(['publisher.yaml cannot be used:', ...problems].join('\n'));
}

export const publisher = parsePublisher(readFileSync(new URL('../../publisher.yaml', import.meta.url), 'utf8'));

/** The registry of unpublished images. `buildah` uses this name for its builds, `docker` and `kind` accept it, and no node pulls by it. */
const OWN_MACHINE = 'localhost';

export const getImageRepository = (name: string, { images }: Publisher = publisher): string =>
  `${images === '' ? OWN_MACHINE : images}/${name}`;

/** Returns the chart repository of the updater: the index or else the registry. Empty: no charts are published. */
export const getChartRepository = ({ charts: { index, oci } }: Publisher = publisher): string =>
  index !== '' || oci === '' ? index : `oci://${oci}`;

export const isUnpublished = (repository: string): boolean => repository.startsWith(`${OWN_MACHINE}/`);

/** Returns how to install an unpublished image, or undefined. @param prefix the setting `imagePrefix`: a registry that has the image */
export function unpublishedNotice(image: { repository: string; tag: string }, prefix = ''): string | undefined {
  const { repository, tag } = image;
  if (prefix !== '' || !isUnpublished(repository)) return undefined;
  const name = `${repository}:${tag}`;
  return (
    `The image ${name} is not published. Build it (\`docker build -t ${name} .\` or \`buildah build -t ${name} .\`) and ` +
    'load it into the nodes, or push it to a registry and set controllerManager.manager.image.'
  );
}
