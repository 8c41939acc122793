import type { Archive } from './archives.ts';

/** Names the address of a folder that has the archives under their own names; `off`: programs are built, and nothing is fetched. */
export const MIRROR = 'LUMIGO_SANDBOX_MIRROR';

export const isOff = (mirror: string | undefined): boolean => mirror === 'off';

/** Where an archive is fetched from. @throws Error with a sentence where the setting names no place. */
export function addressOf({ file, url }: Archive, mirror: string | undefined): URL {
  if (mirror === undefined || mirror === '') return new URL(url);
  const base = URL.canParse(mirror) ? new URL(mirror) : undefined;
  if (base === undefined || !/^https?:$/.test(base.protocol) || base.username + base.password !== '')
    // Not the value: there may be a password in it.
    throw new Error(
      `${MIRROR} must be 'off' or an address such as https://mirror.example.com/archives, without a user`,
    );
  return new URL(file, base.href.replace(/\/*$/, '/'));
}
