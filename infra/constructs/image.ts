import type { Settings } from '../settings/schema.ts';

export type Image = Settings['updater']['image'];

/** Returns the reference by which nodes pull an image. A digest wins over the tag. @param prefix the setting `imagePrefix` */
export function imageReference({ repository, tag, digest }: Image, prefix = ''): string {
  const name = `${prefix}${repository}:${tag}`;
  return digest === '' ? name : `${name}@${digest}`;
}
