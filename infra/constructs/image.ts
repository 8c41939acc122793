export interface Image {
  readonly repository: string;
  readonly tag: string;
  readonly digest: string;
}

/** The reference by which a node pulls an image: by content where it is pinned (the tag is then for people), else by tag. */
export function imageReference({ repository, tag, digest }: Image): string {
  return digest === '' ? `${repository}:${tag}` : `${repository}:${tag}@${digest}`;
}
