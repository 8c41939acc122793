import type { Target } from './target.ts';

export type Engine = 'docker' | 'podman' | 'buildah';

export interface Command {
  readonly title: string;
  readonly argv: readonly string[];
  readonly hint?: string | undefined;
}

/** The order is that of preference. The command succeeds only if the engine can build. */
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

/** Returns commands that build and load the image, by an archive that kind and minikube accept. @throws Error for other clusters */
export function getImageCommands(engine: Engine, target: Target, image: string, archive: string): readonly Command[] {
  if (target.kind === 'other') throw new Error(adviseOnImage(target.context, image));
  return [
    { title: `building the image ${image} with ${engine}`, argv: [engine, 'build', '--tag', image, '.'] },
    { title: `saving the image for ${target.kind}`, argv: save[engine](image, archive) },
    { title: `loading the image into ${target.kind} '${target.name}'`, argv: load[target.kind](archive, target.name) },
  ];
}

/** Returns how an image reaches a cluster that is neither of kind nor of minikube. */
export function adviseOnImage(context: string, image: string): string {
  const pushed = `REGISTRY/${image.replace(/^localhost\//, '')}`;
  return [
    `context '${context}' is neither a kind nor a minikube cluster, so its nodes cannot get the image from this machine.`,
    'Build the image, push it to a registry that the nodes can reach, and name it:',
    `  docker build --tag ${pushed} .`,
    `  docker push ${pushed}`,
    `  npm run cluster:install -- --image ${pushed}`,
  ].join('\n');
}

/** Returns the chart's values for an image. @throws Error if it has no tag */
export function getImageValues(image: string): readonly string[] {
  const [, repository, tag] = /^(.+):([\w][\w.-]{0,127})$/.exec(image) ?? [];
  if (repository === undefined || tag === undefined || image.includes('@'))
    throw new Error(
      `--image '${image}' has no tag. Write it as REGISTRY/NAME:TAG, such as ghcr.io/acme/operator:0.1.0`,
    );
  const setting = 'controllerManager.manager.image';
  return ['--set-string', `${setting}.repository=${repository}`, '--set-string', `${setting}.tag=${tag}`];
}
