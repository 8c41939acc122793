export interface Image {
  readonly repository: string;
  readonly tag: string;
  readonly digest: string;
}

/** Returns the reference by which nodes pull an image. A digest wins over the tag. @param prefix the setting `imagePrefix` */
export function imageReference({ repository, tag, digest }: Image, prefix = ''): string {
  const name = `${prefix}${repository}:${tag}`;
  return digest === '' ? name : `${name}@${digest}`;
}
