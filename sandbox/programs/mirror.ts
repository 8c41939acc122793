import { describeError } from '../../runtime/wording/errors.ts';
import type { Archive } from './archives.ts';

/** Names the address of a folder that has the archives under their own names; `off`: programs are built, and nothing is fetched. */
export const MIRROR = 'LUMIGO_SANDBOX_MIRROR';

/** Where an archive is fetched from. @throws Error with a sentence where the setting names no place. */
export function addressOf({ file, url }: Archive, mirror: string | undefined): URL {
  if (mirror === undefined || mirror === '') return new URL(url);
  const base = URL.canParse(mirror) ? new URL(mirror) : undefined;
  if (base === undefined || !/^https?:$/.test(base.protocol) || base.username + base.password !== '')
    // Not the value: there may be a password in it.
    throw new Error(
      `${MIRROR} must be 'off' or a URL without credentials, such as https://mirror.example.com/archives`,
    );
  return new URL(file, base.href.replace(/\/*$/, '/'));
}

/** Where there is no network this is all the time that is lost. */
const PATIENCE_MS = 2_000;

/** The hosts of some addresses that answer nothing at all, with the reason of each; all are asked at the same time. */
export async function unreachable(addresses: readonly URL[]): Promise<ReadonlyMap<string, string>> {
  const byHost = new Map(addresses.map((address) => [address.host, new URL('.', address)]));
  const answers = await Promise.all([...byHost].map(async ([host, url]) => [host, await whyNot(url)] as const));
  return new Map(answers.flatMap(([host, why]) => (why === undefined ? [] : [[host, why] as const])));
}

async function whyNot(url: URL): Promise<string | undefined> {
  try {
    await fetch(url, { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(PATIENCE_MS) });
    return undefined;
  } catch (error) {
    return describeError(error);
  }
}
