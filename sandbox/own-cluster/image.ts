import type { Target } from './target.ts';

/** A program that builds images from a Dockerfile. */
export type Engine = 'docker' | 'podman' | 'buildah';

/** A command with its arguments, and its purpose as the command line shows it. */
export interface Command {
  readonly title: string;
  readonly argv: readonly string[];
  /** Advice if it fails. */
  readonly hint?: string;
}

/** In order of preference, with a command that succeeds only if the engine can build. */
export const engines: Readonly<Record<Engine, readonly string[]>> = {
  docker: ['docker', 'info'],
  podman: ['podman', 'info'],
  buildah: ['buildah', 'version'],
};

const save: Readonly<Record<Engine, (image: string, archive: string) => readonly string[]>> = {
  docker: (image, archive) => ['docker', 'save', '--output', archive, image],
  podman: (image, archive) => ['podman', 'save', '--format', 'docker-archive', '--output', archive, image],
  buildah: (image, archive) => ['buildah', 'push', image, `docker-archive:${archive}:${image}`],
};

const load: Readonly<Record<'kind' | 'minikube', (archive: string, name: string) => readonly string[]>> = {
  kind: (archive, name) => ['kind', 'load', 'image-archive', archive, '--name', name],
  minikube: (archive, name) => ['minikube', 'image', 'load', archive, '--profile', name],
};

const build = (engine: Engine, image: string): Command => ({
  title: `building the image ${image} with ${engine}`,
  argv: [engine, 'build', '--tag', image, '.'],
});

/**
 * The commands that build the image and bring it to the nodes of the target, through one archive: kind and minikube read an
 * archive from every engine.
 * @throws Error for a cluster whose nodes cannot be reached from this machine
 */
export function getImageCommands(engine: Engine, target: Target, image: string, archive: string): readonly Command[] {
  if (target.kind === 'other') throw new Error(adviseOnImage(target.context, image));
  return [
    build(engine, image),
    { title: `saving the image for ${target.kind}`, argv: save[engine](image, archive) },
    {
      title: `loading the image into ${target.kind} cluster '${target.name}'`,
      argv: load[target.kind](archive, target.name),
    },
  ];
}

/** Tells how an image reaches a cluster that is neither of kind nor of minikube. */
export const adviseOnImage = (context: string, image: string): string =>
  [
    `context '${context}' is neither a kind nor a minikube cluster, so its nodes cannot get the image from this machine.`,
    'Build the image, push it to a registry that the nodes can reach, and name it:',
    `  docker build --tag REGISTRY/${image.replace(/^localhost\//, '')} .`,
    `  docker push REGISTRY/${image.replace(/^localhost\//, '')}`,
    `  npm run cluster:install -- --image REGISTRY/${image.replace(/^localhost\//, '')}`,
  ].join('\n');

/** The chart's values for an image with a name of its own. @throws Error if the image has no tag */
export function getImageValues(image: string): readonly string[] {
  const [, repository, tag] = /^(.+):([\w][\w.-]{0,127})$/.exec(image) ?? [];
  if (repository === undefined || tag === undefined || image.includes('@'))
    throw new Error(
      `--image '${image}' has no tag. Write it as REGISTRY/NAME:TAG, such as ghcr.io/acme/operator:0.1.0`,
    );
  const setting = 'controllerManager.manager.image';
  return ['--set-string', `${setting}.repository=${repository}`, '--set-string', `${setting}.tag=${tag}`];
}
