export interface Image {
  readonly repository: string;
  readonly tag: string;
  readonly digest: string;
}

/**
 * The reference by which a node pulls an image: by content where it is pinned (the tag is then for people), else by tag.
 * @param prefix the setting `imagePrefix`
 */
export function imageReference({ repository, tag, digest }: Image, prefix = ''): string {
  const name = `${prefix}${repository}:${tag}`;
  return digest === '' ? name : `${name}@${digest}`;
}
