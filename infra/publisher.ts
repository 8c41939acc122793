import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { fields, httpsUrl, imageRepository, text } from './settings/leaves.ts';

const registry = () =>
  text().refine((value) => value === '' || imageRepository().safeParse(value).success, {
    error: 'must be a registry and a folder in it, such as ghcr.io/acme, or empty',
  });

const npmName = () =>
  text().regex(
    /^((@[a-z0-9][-._a-z0-9]*\/)?[a-z0-9][-._a-z0-9]*)?$/,
    'must be the name of an npm package, such as @acme/lumigo-kubernetes-operator, or empty',
  );

const schema = fields({
  home: httpsUrl(),
  images: registry(),
  charts: fields({ index: httpsUrl(), oci: registry() }),
  npm: npmName(),
  maintainers: z.array(fields({ name: text().min(1, 'must not be empty'), url: httpsUrl() })),
});

/** Who publishes the operator, and where; what is empty is published nowhere. */
export type Publisher = z.output<typeof schema>;

/** @throws Error with every problem that publisher.yaml has */
export function parsePublisher(yaml: string): Publisher {
  const { data, error } = schema.safeParse(parse(yaml));
  if (data !== undefined) return data;
  const problems = error.issues.map(({ path, message }) => `  - ${path.join('.') || 'it'} ${message}`);
  throw new Error(['publisher.yaml cannot be used:', ...problems].join('\n'));
}

export const publisher = parsePublisher(readFileSync(new URL('../publisher.yaml', import.meta.url), 'utf8'));

/**
 * Where images are that nobody published: `buildah` names what it builds so, `docker` and `kind` take it for any other name, and
 * no node finds somebody else's image by it.
 */
const OWN_MACHINE = 'localhost';

/** Where one of the operator's images comes from. */
export const imageRepositoryOf = (name: string, { images }: Publisher = publisher): string =>
  `${images === '' ? OWN_MACHINE : images}/${name}`;

/** What the updater asks, by the index or else in the registry; empty: nobody publishes charts. */
export const chartRepositoryOf = ({ charts: { index, oci } }: Publisher = publisher): string =>
  index !== '' || oci === '' ? index : `oci://${oci}`;

/** Whether no registry has an image: it is one of the machine's own. */
export const isUnpublished = (repository: string): boolean => repository.startsWith(`${OWN_MACHINE}/`);

/**
 * What to do about an image that is published nowhere, in one line; undefined for any other.
 * @param prefix the setting `imagePrefix`, which names a registry that has it
 */
export function unpublishedNotice(image: { repository: string; tag: string }, prefix = ''): string | undefined {
  const { repository, tag } = image;
  if (prefix !== '' || !isUnpublished(repository)) return undefined;
  const name = `${repository}:${tag}`;
  return (
    `The image ${name} is published nowhere: build it (\`docker build -t ${name} .\` or \`buildah build -t ${name} .\`) and ` +
    'bring it to the nodes, or push it to a registry and name it by controllerManager.manager.image.'
  );
}
